// SPDX-License-Identifier: Apache-2.0
//===- Constraints.h - checks that verifiers share --------------------------===//
//
// Checks of types, lists of dimensions, windows and regions. The parameter `constraint` is the number of the
// operation's constraint in the specification: `violates(op, 3)` starts a message with `<op>_c3: `.
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

/// Whether the ranks are equal, and all extents that are static in both shapes.
bool fits(Extents a, Extents b);
/// Whether both are tensors with compatible shapes, or both are scalars.
bool oneShape(mlir::Type a, mlir::Type b);
llvm::LogicalResult sameElements(mlir::Operation *op, unsigned constraint, mlir::Type a, mlir::Type b);
/// Number of bits of an element; for a complex type, of both parts.
int64_t bitsOf(mlir::Type element);
/// Checks that the value with this type and role has the shape `wanted`.
llvm::LogicalResult hasShape(mlir::Operation *op, unsigned constraint, mlir::RankedTensorType type, Extents wanted,
                             llvm::StringRef role = "result");
/// Checks that all `types` have the same shape.
llvm::LogicalResult haveOneShape(mlir::Operation *op, unsigned constraint, mlir::TypeRange types,
                                 llvm::StringRef roles);
/// Checks that all `types` are tensors of rank 0 with the same type.
llvm::LogicalResult arePlaces(mlir::Operation *op, unsigned constraint, mlir::TypeRange types);
/// Checks that the type is a tensor of rank 0.
llvm::LogicalResult isScalar(mlir::Operation *op, unsigned constraint, mlir::Type type, llvm::StringRef role);

//===----------------------------------------------------------------------===//
// Lists of numbers
//===----------------------------------------------------------------------===//

/// A list of dimensions of a value with rank `rank`, and the numbers of the constraints on the list; 0 if there is no
/// such constraint.
struct Dimensions {
  llvm::StringRef name;
  Extents list;
  int64_t rank;
  unsigned inRange, distinct, ascending;
};
llvm::LogicalResult verify(mlir::Operation *op, const Dimensions &dimensions);
/// Checks that no dimension occurs twice in the two lists.
llvm::LogicalResult areDistinct(mlir::Operation *op, unsigned constraint, const Dimensions &a, const Dimensions &b);
/// Checks that there are inputs, and as many operands of the kind `others`, and results, as inputs.
llvm::LogicalResult arePaired(mlir::Operation *op, unsigned constraint, size_t inputs, size_t operands,
                              llvm::StringRef others);
/// Checks that there are `wanted` entries.
llvm::LogicalResult hasSize(mlir::Operation *op, unsigned constraint, llvm::StringRef name, size_t size, size_t wanted);
/// Checks that a list of precisions has an element for each of the two operands.
llvm::LogicalResult areForBoth(mlir::Operation *op, unsigned constraint, std::optional<mlir::ArrayAttr> precisions);
/// Checks that each entry is between 0 and the extent of its dimension.
llvm::LogicalResult areWithin(mlir::Operation *op, unsigned constraint, llvm::StringRef name, Extents sizes,
                              Extents extents);

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// One number per dimension of a window (1 if there is no list), and the numbers of the constraints on the size of the
/// list and on its entries, which must be positive.
struct WindowList {
  llvm::StringRef name;
  std::optional<Extents> list;
  unsigned size, positive;
};
/// A window with one dimension per element of `extents`.
struct Window {
  Extents extents;
  WindowList strides, baseDilations, windowDilations;
  std::optional<mlir::DenseIntElementsAttr> padding;
  unsigned paddingShape;
};
/// Checks that each entry is positive.
llvm::LogicalResult arePositive(mlir::Operation *op, unsigned constraint, llvm::StringRef name, Extents extents);
/// Checks that the lists fit the rank of the window, and that strides and dilations are positive.
llvm::LogicalResult verify(mlir::Operation *op, const Window &window);
/// Computes the number of positions of a verified window along each dimension of a base with these extents; dynamic for
/// dynamic dimensions. Fails if the number exceeds 64 bits.
mlir::FailureOr<llvm::SmallVector<int64_t>> places(mlir::Operation *op, unsigned constraint, const Window &window,
                                                   Extents base);

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Checks that the region has arguments of the types `takes` and returns values of the types `returns`.
llvm::LogicalResult hasSignature(mlir::Operation *op, unsigned constraint, mlir::Region &region, llvm::StringRef name,
                                 mlir::TypeRange takes, mlir::TypeRange returns);
/// Checks that the region has two scalar arguments per input, and returns one scalar of the argument type per input.
/// The argument types may be wider than the elements of the inputs; by constraint `elements`, they are the element
/// types of the results.
llvm::LogicalResult isReducer(mlir::Operation *op, unsigned constraint, unsigned elements, mlir::Region &region,
                              llvm::StringRef name, mlir::TypeRange inputs, mlir::TypeRange results);
} // namespace skript_stablehlo::constraints

#endif // SKRIPT_STABLEHLO_CONSTRAINTS_H
