// SPDX-License-Identifier: Apache-2.0
//===- Fusion.cpp - fusion of elementwise linalg ops within bounds ----------===//

#include "skript/Transforms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

/// Whether producer and consumer together keep the bounds. What is no `linalg.generic` is a reshape, and moves.
static bool fits(linalg::GenericOp producer, linalg::GenericOp consumer, skript::FusionBounds bounds) {
  if (!producer || !consumer)
    return true;
  auto count = [](linalg::GenericOp op) { return op.getBody()->getOperations().size() - 1; };
  // The fused value is no input any more.
  size_t inputs = producer.getNumDpsInputs() + consumer.getNumDpsInputs() - 1;
  return inputs <= bounds.inputs && count(producer) + count(consumer) <= bounds.operations;
}

/// Whether the consumer visits a point of the producer more than once where that adds to its output: it would do so each
/// time.
static bool repeats(linalg::GenericOp producer, linalg::GenericOp consumer, OpOperand *fused) {
  if (!producer || !consumer || consumer.getMatchingIndexingMap(fused).isPermutation())
    return false;
  return llvm::any_of(producer.getDpsInitsMutable(),
                      [&](OpOperand &init) { return producer.payloadUsesValueFromOperand(&init); });
}

LogicalResult skript::fuseElementwise(Operation *root, FusionBounds bounds) {
  MLIRContext *context = root->getContext();
  linalg::ControlFusionFn allowed = [bounds](OpOperand *fused) {
    Operation *producer = fused->get().getDefiningOp();
    if (!producer || !producer->hasOneUse())
      return false;
    auto first = dyn_cast<linalg::GenericOp>(producer);
    auto second = dyn_cast<linalg::GenericOp>(fused->getOwner());
    return fits(first, second, bounds) && !repeats(first, second, fused);
  };
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, allowed);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, allowed);
  linalg::populateConstantFoldLinalgOperations(patterns, allowed);
  tensor::populateBubbleUpExpandShapePatterns(patterns);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
  // From the top, so that a chain becomes groups in its order.
  return applyPatternsGreedily(root, std::move(patterns), GreedyRewriteConfig().setUseTopDownTraversal());
}
