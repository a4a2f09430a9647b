// SPDX-License-Identifier: Apache-2.0
//===- Gpu.cpp - upstream C++ functions for GPU code generation ---------------===//

#include "skript-c/Gpu.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

extern "C" {

bool skriptSerializeSpirv(MlirOperation module, MlirStringCallback callback, void *into) {
  auto spirvModule = dyn_cast<spirv::ModuleOp>(unwrap(module));
  SmallVector<uint32_t, 0> words;
  if (!spirvModule || failed(spirv::serialize(spirvModule, words)))
    return false;
  callback(wrap(StringRef(reinterpret_cast<const char *>(words.data()), words.size() * sizeof(uint32_t))), into);
  return true;
}

bool skriptApproximateMath(MlirOperation root) {
  RewritePatternSet patterns(unwrap(root)->getContext());
  auto all = [](StringRef) { return true; };
  populateMathF32ExpansionPatterns(patterns, all);
  populateMathPolynomialApproximationPatterns(patterns, all);
  GreedyRewriteConfig config;
  config.enableFolding(false);
  return succeeded(applyPatternsGreedily(unwrap(root), std::move(patterns), config));
}
}
