// SPDX-License-Identifier: Apache-2.0
//===- ScalarFolding.h - elementwise operations on constants ----------------===//

#ifndef SKRIPT_SCALARFOLDING_H
#define SKRIPT_SCALARFOLDING_H

#include "mlir/IR/Operation.h"

namespace skript::detail {

/// The value of an elementwise operation on constant scalars (integer or float attributes, one per operand), or null
/// if it is not known exactly. The scalar table (frontend/semantics) defines the semantics.
mlir::Attribute foldScalar(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands, mlir::Type result);

/// Like `foldScalar`, for constant tensors and vectors too; null if an operand is not constant or the result would be
/// large.
mlir::Attribute foldElementwise(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands);

} // namespace skript::detail

#endif // SKRIPT_SCALARFOLDING_H
