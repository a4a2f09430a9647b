// SPDX-License-Identifier: Apache-2.0
//===- Pattern.cpp - rewrite patterns written in another language -----------===//

#include "skript-c/Pattern.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {
class ForeignPattern : public RewritePattern {
public:
  ForeignPattern(StringRef root, unsigned benefit, MLIRContext *context, SkriptRewrite rewrite, void *pattern)
      : RewritePattern(root, benefit, context), rewrite(rewrite), pattern(pattern) {}
  ForeignPattern(unsigned benefit, MLIRContext *context, SkriptRewrite rewrite, void *pattern)
      : RewritePattern(MatchAnyOpTypeTag(), benefit, context), rewrite(rewrite), pattern(pattern) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    return success(rewrite(pattern, wrap(op), wrap(static_cast<RewriterBase *>(&rewriter))));
  }

private:
  SkriptRewrite rewrite;
  void *pattern;
};
} // namespace

extern "C" void skriptPatternSetAdd(MlirRewritePatternSet set, MlirStringRef root, unsigned benefit,
                                    SkriptRewrite rewrite, void *pattern) {
  RewritePatternSet &patterns = *unwrap(set);
  MLIRContext *context = patterns.getContext();
  StringRef name = unwrap(root);
  if (name.empty())
    patterns.add(std::make_unique<ForeignPattern>(benefit, context, rewrite, pattern));
  else
    patterns.add(std::make_unique<ForeignPattern>(name, benefit, context, rewrite, pattern));
}
