// SPDX-License-Identifier: Apache-2.0
//===- Constraints.h - kinds of constraints that operations share -----------===//
//
// One check per kind: types, lists of dimensions, windows, regions. Labels are numbers of the operation's constraints in
// the specification: `violates(op, 3)` begins `<op>_c3: `.
//
//===----------------------------------------------------------------------===//

#ifndef SKRIPT_STABLEHLO_CONSTRAINTS_H
#define SKRIPT_STABLEHLO_CONSTRAINTS_H

#include "skript-stablehlo/Stablehlo.h"

namespace skript_stablehlo::constraints {
using Extents = llvm::ArrayRef<int64_t>;

/// `'stablehlo.add' op add_c1: …`
mlir::InFlightDiagnostic violates(mlir::Operation *op, unsigned constraint);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Extents that are known on both sides agree.
bool fits(Extents a, Extents b);
/// Both are tensors whose extents fit, or both are scalars.
bool oneShape(mlir::Type a, mlir::Type b);
llvm::LogicalResult sameElements(mlir::Operation *op, unsigned constraint, mlir::Type a, mlir::Type b);
/// Bits of an element; both parts of a complex one.
int64_t bitsOf(mlir::Type element);
/// The `role` with this type has the shape that is wanted.
llvm::LogicalResult hasShape(mlir::Operation *op, unsigned constraint, mlir::RankedTensorType type, Extents wanted,
                             llvm::StringRef role = "result");
/// One shape for all of `values`.
llvm::LogicalResult haveOneShape(mlir::Operation *op, unsigned constraint, mlir::TypeRange types,
                                 llvm::StringRef roles);
/// Tensors without dimensions, of one type.
llvm::LogicalResult arePlaces(mlir::Operation *op, unsigned constraint, mlir::TypeRange types);
/// A tensor without dimensions.
llvm::LogicalResult isScalar(mlir::Operation *op, unsigned constraint, mlir::Type type, llvm::StringRef role);

//===----------------------------------------------------------------------===//
// Lists of numbers
//===----------------------------------------------------------------------===//

/// A list that names dimensions of something with so many; labels of its rules, 0 for a rule that there is not.
struct Dimensions {
  llvm::StringRef name;
  Extents list;
  int64_t rank;
  unsigned inRange, distinct, ascending;
};
llvm::LogicalResult verify(mlir::Operation *op, const Dimensions &dimensions);
/// No dimension is in both lists, or twice in one.
llvm::LogicalResult areDistinct(mlir::Operation *op, unsigned constraint, const Dimensions &a, const Dimensions &b);
/// There are inputs, one result for each, and `operands` operands with as many `others`.
llvm::LogicalResult arePaired(mlir::Operation *op, unsigned constraint, size_t inputs, size_t operands,
                              llvm::StringRef others);
/// There are `wanted` entries.
llvm::LogicalResult hasSize(mlir::Operation *op, unsigned constraint, llvm::StringRef name, size_t size, size_t wanted);
/// Precisions, if there are any, are for both operands.
llvm::LogicalResult areForBoth(mlir::Operation *op, unsigned constraint, std::optional<mlir::ArrayAttr> precisions);
/// Each entry is between 0 and the extent of that dimension.
llvm::LogicalResult areWithin(mlir::Operation *op, unsigned constraint, llvm::StringRef name, Extents sizes,
                              Extents extents);

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// One number per dimension of a window, 1 where there is no list; labels of `size` and of `0 < entry`.
struct WindowList {
  llvm::StringRef name;
  std::optional<Extents> list;
  unsigned size, positive;
};
/// A window along as many dimensions as it has `extents`.
struct Window {
  Extents extents;
  WindowList strides, baseDilations, windowDilations;
  std::optional<mlir::DenseIntElementsAttr> padding;
  unsigned paddingShape;
};
/// Each entry is positive.
llvm::LogicalResult arePositive(mlir::Operation *op, unsigned constraint, llvm::StringRef name, Extents extents);
/// The lists fit the window's rank, and strides and dilations are positive.
llvm::LogicalResult verify(mlir::Operation *op, const Window &window);
/// At how many places the window, whose lists fit, stands along each dimension of a base of these extents; a dimension
/// that is unknown stays so. Fails where 64 bits do not hold the numbers.
mlir::FailureOr<llvm::SmallVector<int64_t>> places(mlir::Operation *op, unsigned constraint, const Window &window,
                                                   Extents base);

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The region takes values of these types and returns values of those.
llvm::LogicalResult hasSignature(mlir::Operation *op, unsigned constraint, mlir::Region &region, llvm::StringRef name,
                                 mlir::TypeRange takes, mlir::TypeRange returns);
/// The region takes twice as many scalars as there are `inputs`, and returns one for each, of the types that it takes.
/// These may hold more than the inputs' elements: the results' elements are of them, by the label `elements`.
llvm::LogicalResult isReducer(mlir::Operation *op, unsigned constraint, unsigned elements, mlir::Region &region,
                              llvm::StringRef name, mlir::TypeRange inputs, mlir::TypeRange results);
} // namespace skript_stablehlo::constraints

#endif // SKRIPT_STABLEHLO_CONSTRAINTS_H
