// SPDX-License-Identifier: Apache-2.0
//===- skript-lower.cpp - lowers a model with the passes of the project ---===//
//
// Reads a module in the skript dialect, runs a pipeline over it in this process, and prints the result. The pipeline is what
// `skript compile --print-pipeline` prints; without one, the model becomes linalg on tensors. Passes of other projects can
// stand between ours.
//
//===----------------------------------------------------------------------===//

#include "skript-c/Passes.h"
#include "skript/Skript.h"

#include "mlir/CAPI/Pass.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    llvm::errs() << "usage: skript-lower model.mlir [PIPELINE]\n";
    return 2;
  }
  registerAllPasses();
  skriptRegisterPasses();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  skript::registerSkript(registry);
  MLIRContext context(registry);

  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  PassManager manager = PassManager::on<ModuleOp>(&context);
  if (argc == 3) {
    FailureOr<OpPassManager> parsed = parsePassPipeline(argv[2]);
    if (failed(parsed))
      return 1;
    static_cast<OpPassManager &>(manager) = std::move(*parsed);
  } else {
    manager.addPass(createInlinerPass());
    manager.addPass(std::unique_ptr<Pass>(unwrap(skriptCreateConvertSkriptFormulaToLinalgPass())));
    manager.addPass(std::unique_ptr<Pass>(unwrap(skriptCreateConvertSkriptElementwiseToLinalgPass())));
    manager.addPass(std::unique_ptr<Pass>(unwrap(skriptCreateConvertSkriptScalarToArithPass())));
  }
  if (failed(manager.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
