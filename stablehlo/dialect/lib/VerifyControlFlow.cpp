// SPDX-License-Identifier: Apache-2.0
//===- VerifyControlFlow.cpp - computations in regions ----------------------===//

#include "Constraints.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

LogicalResult OptimizationBarrierOp::verify() {
  if (llvm::equal(getOperandTypes(), getResultTypes()))
    return success();
  return violates(*this, 1) << "operands are " << getOperandTypes() << ", results are " << getResultTypes();
}

LogicalResult WhileOp::verify() {
  if (getOperandTypes() != getResultTypes())
    return violates(*this, 3) << "operands and results must have the same types, but are (" << getOperandTypes()
                              << ") and (" << getResultTypes() << ")";
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(hasSignature(*this, 1, getCond(), "the condition", getOperandTypes(), pred)))
    return failure();
  return hasSignature(*this, 2, getBody(), "the body", getOperandTypes(), getOperandTypes());
}

/// Checks that no region has arguments and that all regions return the types of the results. The parameters are the
/// numbers of the violated constraints.
static LogicalResult areBranches(Operation *op, unsigned takes, unsigned same, unsigned returns) {
  for (auto [n, region] : llvm::enumerate(op->getRegions())) {
    std::string name = "branch " + std::to_string(n);
    if (region.getNumArguments() > 0)
      return violates(op, takes) << name << " must take nothing, but takes (" << region.getArgumentTypes() << ")";
    if (failed(hasSignature(op, n == 0 ? returns : same, region, name, {}, op->getResultTypes())))
      return failure();
  }
  return success();
}

LogicalResult IfOp::verify() {
  return areBranches(*this, 1, 2, 3);
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return violates(*this, 1) << "there is no branch";
  return areBranches(*this, 2, 3, 4);
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getDecompositionAttr());
  if (!function)
    return emitOpError("names ") << getDecompositionAttr() << ", which is not a function";
  if (function.getArgumentTypes() == getOperandTypes() && function.getResultTypes() == getResultTypes())
    return success();
  return emitOpError("has the types (") << getOperandTypes() << ") -> (" << getResultTypes() << "), but "
                                        << getDecompositionAttr() << " is " << function.getFunctionType();
}
