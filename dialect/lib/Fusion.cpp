// SPDX-License-Identifier: Apache-2.0
//===- Fusion.cpp - fusion of elementwise linalg ops within bounds ----------===//

#include "skript/Transforms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

/// Whether the fused operation respects the bounds. A producer that is not a `linalg.generic` is a reshape, which moves.
static bool fits(linalg::GenericOp producer, linalg::GenericOp consumer, skript::FusionBounds bounds) {
  if (!producer || !consumer)
    return true;
  auto count = [](linalg::GenericOp op) { return op.getBody()->getOperations().size() - 1; };
  // The fused value is not an input of the result.
  size_t inputs = producer.getNumDpsInputs() + consumer.getNumDpsInputs() - 1;
  return inputs <= bounds.inputs && count(producer) + count(consumer) <= bounds.operations;
}

/// Whether the consumer visits a point of the producer more than once while the producer accumulates into its output: fusion
/// would repeat the accumulation.
static bool repeats(linalg::GenericOp producer, linalg::GenericOp consumer, OpOperand *fused) {
  if (!producer || !consumer || consumer.getMatchingIndexingMap(fused).isPermutation())
    return false;
  return llvm::any_of(producer.getDpsInitsMutable(),
                      [&](OpOperand &init) { return producer.payloadUsesValueFromOperand(&init); });
}

/// Whether the consumer reads only a part of the producer's operands, such as the first row of a tensor, at its own loop
/// indices: `linalg.generic` derives the extents of its loops from such operands.
static bool readsPart(linalg::GenericOp producer, linalg::GenericOp consumer, OpOperand *fused) {
  if (!producer || !consumer || producer.getNumDpsInits() != 1)
    return false;
  AffineMap result = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  if (!result.isPermutation())
    return false;
  AffineMap points = inversePermutation(result).compose(consumer.getMatchingIndexingMap(fused));
  SmallVector<int64_t> loops = consumer.getStaticLoopRanges();
  return llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap own = producer.getMatchingIndexingMap(input);
    AffineMap composed = own.compose(points);
    auto type = dyn_cast<ShapedType>(input->get().getType());
    return type && llvm::any_of(llvm::enumerate(composed.getResults()), [&](auto subscript) {
      auto loop = dyn_cast<AffineDimExpr>(subscript.value());
      if (!loop || isa<AffineDimExpr>(own.getResult(subscript.index())))
        return false;
      int64_t extent = type.getDimSize(subscript.index());
      return ShapedType::isDynamic(extent) || extent != loops[loop.getPosition()];
    });
  });
}

LogicalResult skript::fuseElementwise(Operation *root, FusionBounds bounds) {
  MLIRContext *context = root->getContext();
  linalg::ControlFusionFn allowed = [bounds](OpOperand *fused) {
    Operation *producer = fused->get().getDefiningOp();
    if (!producer || !producer->hasOneUse())
      return false;
    auto first = dyn_cast<linalg::GenericOp>(producer);
    auto second = dyn_cast<linalg::GenericOp>(fused->getOwner());
    if (bounds.mapsOnly && second && second.getNumReductionLoops() > 0)
      return false;
    return fits(first, second, bounds) && !repeats(first, second, fused) && !readsPart(first, second, fused);
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
  // Top-down, so that a chain is grouped in its order.
  return applyPatternsGreedily(root, std::move(patterns), GreedyRewriteConfig().setUseTopDownTraversal());
}

/// Whether the operand of a payload is a different element at each point, not a value that points share.
static bool isWhole(linalg::GenericOp op, OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  auto isOnce = [&](auto loop) { return loop.value() == 1 || map.isFunctionOfDim(loop.index()); };
  return map.isProjectedPermutation() && llvm::all_of(llvm::enumerate(op.getStaticLoopRanges()), isOnce);
}

/// Whether each element is computed from one element by a few single-cycle operations: recomputing it takes no longer than
/// reading it.
static bool isCheap(linalg::GenericOp op) {
  const unsigned most = 4;
  unsigned operations = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    // Without a vector instruction, a 64-bit conversion takes several operations.
    auto conversion = dyn_cast<arith::SIToFPOp>(inner);
    bool narrow = conversion && conversion.getIn().getType().getIntOrFloatBitWidth() <= 32;
    bool simple = narrow || isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
                      arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp,
                      arith::AddIOp, arith::SubIOp, arith::CmpIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(inner);
    if (!simple || ++operations > most)
      return false;
  }
  auto whole = [&](OpOperand *input) { return isWhole(op, input); };
  return llvm::count_if(op.getDpsInputOperands(), whole) <= 1;
}

/// Whether an elementwise operation reads the result of a contraction or window, whose kernel also computes the operation.
static bool endsContraction(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [](OpOperand *input) {
    auto maker = input->get().getDefiningOp<linalg::GenericOp>();
    return maker && maker.getNumReductionLoops() > 0 && maker.getNumDpsInputs() > 1;
  });
}

/// Whether the payload of the operand's producer can be computed in the payload of its user, at the same points, once each.
static bool canCompute(OpOperand &operand) {
  auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!producer || !consumer || !consumer.isDpsInput(&operand) || producer->getBlock() != consumer->getBlock())
    return false;
  if (producer->getNumResults() != 1 || producer.getNumReductionLoops() > 0 || !isWhole(consumer, &operand))
    return false;
  OpOperand *init = producer.getDpsInitOperand(0);
  return isWhole(producer, init) && !producer.payloadUsesValueFromOperand(init) && !endsContraction(producer) &&
         linalg::areElementwiseOpsFusable(&operand) && !readsPart(producer, consumer, &operand);
}

/// Whether a tensor depends only on variables that no call updates, so that it is computed once, before the first call.
static bool isPrepared(Value value, unsigned depth = 4) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function || !argument.getOwner()->isEntryBlock())
      return false;
    auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "skript.role");
    return role && role.getValue() == "variable" && !function.getArgAttr(argument.getArgNumber(), "skript.updated");
  }
  Operation *op = value.getDefiningOp();
  if (isa<tensor::EmptyOp, arith::ConstantOp>(op))
    return true;
  return depth > 0 && isa<linalg::GenericOp, linalg::FillOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isPrepared(operand, depth - 1); });
}

namespace {
/// Computes an elementwise operation in the payload of each operation that reads it.
struct ComputeInUsers : OpRewritePattern<linalg::GenericOp> {
  ComputeInUsers(MLIRContext *context, skript::FusionBounds bounds) : OpRewritePattern(context), bounds(bounds) {}

  LogicalResult matchAndRewrite(linalg::GenericOp consumer, PatternRewriter &rewriter) const override {
    for (OpOperand *operand : consumer.getDpsInputOperands()) {
      if (!canCompute(*operand))
        continue;
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      if (isPrepared(operand->get()) && !isPrepared(consumer->getResult(0)))
        continue;
      bool hasReduction = consumer.getNumReductionLoops() > 0;
      bool allowed = (producer->hasOneUse() && hasReduction) || (isCheap(producer) && isComputedInAll(producer));
      if (!allowed || !fits(producer, consumer, bounds))
        continue;
      if (!producer->hasOneUse()) {
        rewriter.setInsertionPoint(consumer);
        Operation *again = rewriter.clone(*producer);
        rewriter.modifyOpInPlace(consumer, [&] { operand->set(again->getResult(0)); });
      }
      Operation *own = operand->get().getDefiningOp();
      auto fused = linalg::fuseElementwiseOps(rewriter, operand);
      if (failed(fused))
        return failure();
      for (auto [old, replacement] : fused->replacements)
        rewriter.replaceUsesWithIf(old, replacement, [&](OpOperand &use) { return use.get().getDefiningOp() != own; });
      rewriter.eraseOp(consumer);
      return success();
    }
    return failure();
  }

private:
  /// Whether no user needs the result in memory, and the payload fits the bounds of each user.
  bool isComputedInAll(linalg::GenericOp producer) const {
    return llvm::all_of(producer->getUses(), [&](OpOperand &use) {
      return canCompute(use) && fits(producer, cast<linalg::GenericOp>(use.getOwner()), bounds);
    });
  }

  skript::FusionBounds bounds;
};
} // namespace

LogicalResult skript::computeInUsers(Operation *root, FusionBounds bounds) {
  RewritePatternSet patterns(root->getContext());
  patterns.add<ComputeInUsers>(root->getContext(), bounds);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, root->getContext());
  return applyPatternsGreedily(root, std::move(patterns), GreedyRewriteConfig().setUseTopDownTraversal());
}
