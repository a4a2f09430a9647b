// SPDX-License-Identifier: Apache-2.0
//===- skript-kernels.cpp - what a backend finds in a SkriptND model ------===//
//
// Reads a module in the skript dialect and lists its operator instances with their types, then what their bodies are made
// of: formulas by kind, elementwise operations by the dialect's trait. A backend with additional kernels starts here.
//
//===----------------------------------------------------------------------===//

#include "skript/Skript.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>

using namespace mlir;

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: skript-kernels model.mlir\n";
    return 2;
  }
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  skript::registerSkript(registry);
  MLIRContext context(registry);

  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  std::map<std::string, unsigned> formulas, elementwise;
  module->walk([](skript::InvokeOp invoke) {
    llvm::outs() << "operator " << invoke.getOperatorName() << ":";
    for (Type type : invoke->getOperandTypes())
      llvm::outs() << " " << type;
    llvm::outs() << " ->";
    for (Type type : invoke->getResultTypes())
      llvm::outs() << " " << type;
    llvm::outs() << "\n";
  });
  module->walk([&](Operation *op) {
    if (auto formula = dyn_cast<skript::FormulaOp>(op))
      ++formulas[skript::stringifyFormulaKind(formula.getKind()).str()];
    else if (op->hasTrait<OpTrait::Elementwise>())
      ++elementwise[op->getName().getStringRef().str()];
  });
  for (auto &[kind, count] : formulas)
    llvm::outs() << "formula " << kind << ": " << count << "\n";
  for (auto &[name, count] : elementwise)
    llvm::outs() << "elementwise " << name << ": " << count << "\n";
  return 0;
}
