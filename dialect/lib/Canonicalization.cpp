// SPDX-License-Identifier: Apache-2.0
//===- Canonicalization.cpp - canonical forms of formulas and accesses ------===//

#include "skript/Skript.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace skript;

//===----------------------------------------------------------------------===//
// formula
//===----------------------------------------------------------------------===//

namespace {
/// Removes a predicate that always holds, unless a step of it has side effects.
struct DropPredicate : OpRewritePattern<FormulaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FormulaOp op, PatternRewriter &rewriter) const override {
    Region &predicate = op.getPredicate();
    if (predicate.empty())
      return failure();
    auto condition = dyn_cast<ConditionOp>(predicate.front().getTerminator());
    if (!condition || !matchPattern(condition.getCondition(), m_One()) ||
        !llvm::all_of(predicate.front(), [](Operation &step) { return isMemoryEffectFree(&step); }))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&predicate.front()); });
    return success();
  }
};

/// Drops a destination whose result is unused and that no step reads.
struct DropUnusedResults : OpRewritePattern<FormulaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FormulaOp op, PatternRewriter &rewriter) const override {
    unsigned indices = op.getNumIndices(), count = op.getOuts().size();
    // The attribute contains positions of destinations. Destinations that are the same tensor are written in order.
    if (op->hasAttr(FormulaOp::getSameTensorAttrName()))
      return failure();
    auto isUsed = [&](unsigned destination) {
      return !op.getResult(destination).use_empty() || llvm::any_of(op->getRegions(), [&](Region &region) {
               return !region.empty() && !region.getArgument(indices + destination).use_empty();
             });
    };
    SmallVector<unsigned> kept = llvm::to_vector(llvm::make_filter_range(llvm::seq(count), isUsed));
    if (kept.empty() || kept.size() == count)
      return failure();

    SmallVector<Value> outs;
    for (unsigned destination : kept)
      outs.push_back(op.getOuts()[destination]);
    auto made = FormulaOp::create(rewriter, op.getLoc(), ValueRange(outs).getTypes(), op.getKindAttr(),
                                  op.getStaticBoundsAttr(), op.getBounds(), outs);
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getPredicate(), made.getPredicate(), made.getPredicate().end());
    rewriter.inlineRegionBefore(op.getBody(), made.getBody(), made.getBody().end());
    for (Region &region : made->getRegions())
      if (!region.empty())
        rewriter.modifyOpInPlace(made, [&] {
          region.front().eraseArguments([&](BlockArgument argument) {
            unsigned number = argument.getArgNumber();
            return number >= indices && !llvm::is_contained(kept, number - indices);
          });
        });

    auto yield = cast<YieldOp>(made.getBody().front().getTerminator());
    SmallVector<Value> values, subscripts;
    SmallVector<int32_t> ranks;
    for (unsigned destination : kept) {
      values.push_back(yield.getValues()[destination]);
      llvm::append_range(subscripts, yield.getSubscriptsOf(destination));
      ranks.push_back(yield.getRanks()[destination]);
    }
    rewriter.setInsertionPoint(yield);
    DictionaryAttr attributes = yield->getDiscardableAttrDictionary();
    rewriter.replaceOpWithNewOp<YieldOp>(yield, values, subscripts, ranks)->setDiscardableAttrs(attributes);
    for (auto [result, destination] : llvm::zip_equal(made.getResults(), kept))
      rewriter.replaceAllUsesWith(op.getResult(destination), result);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Replaces destinations that are casts to less static types by the source of the cast; casts the results instead.
struct FoldDestinationCasts : OpRewritePattern<FormulaOp> {
  // The upstream pattern for destination-style ops does not update the regions' arguments. Its lower benefit makes it run
  // later, when no cast is left.
  explicit FoldDestinationCasts(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(FormulaOp op, PatternRewriter &rewriter) const override {
    SmallVector<std::pair<unsigned, tensor::CastOp>> casts;
    for (auto [destination, out] : llvm::enumerate(op.getOuts()))
      if (auto cast = out.getDefiningOp<tensor::CastOp>(); cast && tensor::canFoldIntoConsumerOp(cast))
        casts.push_back({destination, cast});
    if (casts.empty())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [destination, cast] : casts) {
        Value source = cast.getSource();
        op.getOutsMutable()[destination].set(source);
        op.getResult(destination).setType(source.getType());
        for (Region &region : op->getRegions())
          if (!region.empty())
            region.getArgument(op.getNumIndices() + destination).setType(source.getType());
      }
    });
    rewriter.setInsertionPointAfter(op);
    for (auto [destination, cast] : casts) {
      Value result = op.getResult(destination);
      auto back = tensor::CastOp::create(rewriter, op.getLoc(), cast.getType(), result);
      rewriter.replaceAllUsesExcept(result, back, back);
    }
    return success();
  }
};
} // namespace

void FormulaOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropPredicate, DropUnusedResults, FoldDestinationCasts>(context);
}

//===----------------------------------------------------------------------===//
// access
//===----------------------------------------------------------------------===//

/// An element of a constant, or of a tensor whose elements are all equal.
OpFoldResult AccessOp::fold(FoldAdaptor adaptor) {
  if (auto filled = getTensor().getDefiningOp<tensor::SplatOp>())
    return filled.getInput();
  auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getTensor());
  if (!dense)
    return {};
  if (dense.isSplat())
    return dense.getSplatValue<Attribute>();
  SmallVector<uint64_t> position;
  for (auto [index, extent] : llvm::zip_equal(adaptor.getIndices(), dense.getType().getShape())) {
    auto number = dyn_cast_or_null<IntegerAttr>(index);
    if (!number || number.getInt() < 0 || number.getInt() >= extent)
      return {};
    position.push_back(number.getInt());
  }
  return dense.getValues<Attribute>()[position];
}
