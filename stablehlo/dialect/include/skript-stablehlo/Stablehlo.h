// SPDX-License-Identifier: Apache-2.0
//===- Stablehlo.h - the StableHLO subset in C++ ----------------------------===//

#ifndef SKRIPT_STABLEHLO_H
#define SKRIPT_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "skript-stablehlo/StablehloDialect.h.inc"
#include "skript-stablehlo/StablehloEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "skript-stablehlo/StablehloAttributes.h.inc"

namespace skript_stablehlo {
namespace constraints {
/// `<op>_c1`: all operands and results have one type.
llvm::LogicalResult verifyOneType(mlir::Operation *op);
/// `<op>_c1`: all operands and results have one shape.
llvm::LogicalResult verifyOneShape(mlir::Operation *op);
/// `complex_c1`, `complex_c2`, `complex_c3`.
llvm::LogicalResult verifyPair(mlir::Operation *op);
/// `abs_c1`, `abs_c2`.
llvm::LogicalResult verifyModulus(mlir::Operation *op);
/// `compare_c1`, `compare_c2`.
llvm::LogicalResult verifyComparison(mlir::Operation *op);
} // namespace constraints

template <typename Op> struct OneType : mlir::OpTrait::TraitBase<Op, OneType> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return constraints::verifyOneType(op); }
};
template <typename Op> struct OneShape : mlir::OpTrait::TraitBase<Op, OneShape> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return constraints::verifyOneShape(op); }
};
template <typename Op> struct Pair : mlir::OpTrait::TraitBase<Op, Pair> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return constraints::verifyPair(op); }
};
template <typename Op> struct Modulus : mlir::OpTrait::TraitBase<Op, Modulus> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return constraints::verifyModulus(op); }
};
template <typename Op> struct Comparison : mlir::OpTrait::TraitBase<Op, Comparison> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return constraints::verifyComparison(op); }
};
} // namespace skript_stablehlo

#define GET_OP_CLASSES
#include "skript-stablehlo/StablehloOps.h.inc"

#endif // SKRIPT_STABLEHLO_H
