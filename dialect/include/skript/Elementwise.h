// SPDX-License-Identifier: Apache-2.0
//===- Elementwise.h - shared code of elementwise operations --------------===//

#ifndef SKRIPT_ELEMENTWISE_H
#define SKRIPT_ELEMENTWISE_H

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace skript::detail {

/// The type of `element` values in the common shape of `operands`: a scalar if all operands are scalars. A static
/// extent takes precedence over a dynamic one. Null if tensors and vectors mix, ranks differ or static extents
/// disagree.
mlir::Type shapedLike(mlir::TypeRange operands, mlir::Type element);

/// Result type of an operation whose operands have one element type; `comparison`: the result is i1.
llvm::LogicalResult inferElementwise(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                     mlir::TypeRange operands, bool comparison,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// Whether result types are compatible with inferred ones: equal except for dynamic extents.
bool compatibleElementwise(mlir::TypeRange inferred, mlir::TypeRange actual);

/// Verifies beyond the traits: operands are scalars, or ranked shapes with equal encodings.
llvm::LogicalResult verifyElementwise(mlir::Operation *op);

/// The extents of the results are those of any tensor operand.
llvm::LogicalResult reifyElementwise(mlir::OpBuilder &builder, mlir::Operation *op,
                                     mlir::ReifiedRankedShapedTypeDims &shapes);

/// `%a, %b {attributes} : type` or `: type, type`, and `-> type` if the result differs from the inferred type.
mlir::ParseResult parseElementwise(mlir::OpAsmParser &parser, mlir::OperationState &state, unsigned operands,
                                   bool comparison);
void printElementwise(mlir::OpAsmPrinter &printer, mlir::Operation *op);

} // namespace skript::detail

#endif // SKRIPT_ELEMENTWISE_H
