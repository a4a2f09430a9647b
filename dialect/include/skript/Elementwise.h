// SPDX-License-Identifier: Apache-2.0
//===- Elementwise.h - what elementwise operations share ------------------===//

#ifndef SKRIPT_ELEMENTWISE_H
#define SKRIPT_ELEMENTWISE_H

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace skript::detail {

/// The type of `element` values in the common shape of `operands`: a scalar if all operands are. A static extent wins
/// over a dynamic one. Null if tensors and vectors mix, ranks differ or static extents disagree.
mlir::Type shapedLike(mlir::TypeRange operands, mlir::Type element);

/// Result type of an operation whose operands have one element type; `comparison`: the result is i1.
llvm::LogicalResult inferElementwise(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                     mlir::TypeRange operands, bool comparison,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// Whether result types may stand for inferred ones: equal but for dynamic extents.
bool compatibleElementwise(mlir::TypeRange inferred, mlir::TypeRange actual);

/// What holds beyond the traits: scalars or ranked shapes without encodings that differ.
llvm::LogicalResult verifyElementwise(mlir::Operation *op);

/// Extents of the results are those of any tensor operand.
llvm::LogicalResult reifyElementwise(mlir::OpBuilder &builder, mlir::Operation *op,
                                     mlir::ReifiedRankedShapedTypeDims &shapes);

/// `%a, %b {attributes} : type` or `: type, type`, and `-> type` where the result is not as inferred.
mlir::ParseResult parseElementwise(mlir::OpAsmParser &parser, mlir::OperationState &state, unsigned operands,
                                   bool comparison);
void printElementwise(mlir::OpAsmPrinter &printer, mlir::Operation *op);

} // namespace skript::detail

#endif // SKRIPT_ELEMENTWISE_H
