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

LogicalResult skript::fuseElementwise(Operation *root, FusionBounds bounds) {
  MLIRContext *context = root->getContext();
  linalg::ControlFusionFn allowed = [bounds](OpOperand *fused) {
    Operation *producer = fused->get().getDefiningOp();
    return producer && producer->hasOneUse() &&
           fits(dyn_cast<linalg::GenericOp>(producer), dyn_cast<linalg::GenericOp>(fused->getOwner()), bounds);
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
