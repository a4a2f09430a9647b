//===- Tiling.cpp - formulas in tiles ---------------------------------------===//
//
// A tile is the same formula over a part of the domain. Dimensions of a destination whose subscript is an index alone are
// cut with the tile; all others, and tensors that are read, stay whole, at subscripts that the tile's place is added to.
//
//===----------------------------------------------------------------------===//

#include "skript/Skript.h"
#include "skript/Transforms.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace skript;

/// The index that a subscript is, if it is one alone.
static std::optional<unsigned> plainIndex(FormulaOp op, Value subscript) {
  auto argument = dyn_cast<BlockArgument>(subscript);
  if (!argument || argument.getOwner() != &op.getBody().front() || argument.getArgNumber() >= op.getNumIndices())
    return std::nullopt;
  return argument.getArgNumber();
}

static YieldOp yieldOf(FormulaOp op) { return cast<YieldOp>(op.getBody().front().getTerminator()); }

/// The index that a dimension of a destination is cut along: the subscript alone, and one that does not lead beyond the
/// dimension at any step. Where a guard keeps it inside, tiles of the loop have no part of the destination.
static std::optional<unsigned> cutIndex(FormulaOp op, unsigned destination, unsigned dimension) {
  std::optional<unsigned> index = plainIndex(op, yieldOf(op).getSubscriptsOf(destination)[dimension]);
  if (!index)
    return std::nullopt;
  int64_t bound = op.getStaticBounds()[*index];
  int64_t extent = cast<RankedTensorType>(op.getOuts()[destination].getType()).getDimSize(dimension);
  bool open = ShapedType::isDynamic(bound) || ShapedType::isDynamic(extent);
  return (open ? op.getPredicate().empty() : bound <= extent) ? index : std::nullopt;
}

/// Whether a step writes several places of one tensor: tiles of such a tensor would each be a tensor of their own.
static bool writesTwice(FormulaOp op) { return op->hasAttr(FormulaOp::getSameTensorAttrName()); }

/// Whether the steps may be taken in any order.
static bool isUnordered(FormulaOp op) {
  if (op.getKind() == FormulaKind::Replace)
    return false;
  return llvm::none_of(op->getRegions(), [&](Region &region) {
    return !region.empty() &&
           llvm::any_of(region.getArguments().drop_front(op.getNumIndices()),
                        [](BlockArgument destination) { return !destination.use_empty(); });
  });
}

SmallVector<utils::IteratorType> FormulaOp::getLoopIteratorTypes() {
  // Steps of a loop that is a subscript of every destination write apart from each other.
  SmallVector<utils::IteratorType> types(getNumIndices(), utils::IteratorType::parallel);
  YieldOp yield = yieldOf(*this);
  for (unsigned destination = 0; destination < getOuts().size(); ++destination) {
    llvm::SmallDenseSet<unsigned> written;
    for (unsigned dimension = 0; dimension < yield.getSubscriptsOf(destination).size(); ++dimension)
      if (std::optional<unsigned> index = cutIndex(*this, destination, dimension))
        written.insert(*index);
    for (unsigned index = 0; index < getNumIndices(); ++index)
      if (!isUnordered(*this) || !written.contains(index))
        types[index] = utils::IteratorType::reduction;
  }
  return types;
}

SmallVector<Range> FormulaOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> domain;
  for (OpFoldResult bound : getMixedBounds())
    domain.push_back({builder.getIndexAttr(0), bound, builder.getIndexAttr(1)});
  return domain;
}

LogicalResult FormulaOp::getResultTilePosition(OpBuilder &builder, unsigned result, ArrayRef<OpFoldResult> offsets,
                                               ArrayRef<OpFoldResult> sizes,
                                               SmallVector<OpFoldResult> &resultOffsets,
                                               SmallVector<OpFoldResult> &resultSizes) {
  SmallVector<OpFoldResult> extents = tensor::getMixedSizes(builder, getLoc(), getOuts()[result]);
  for (auto [dimension, extent] : llvm::enumerate(extents)) {
    std::optional<unsigned> index = cutIndex(*this, result, dimension);
    resultOffsets.push_back(index ? offsets[*index] : builder.getIndexAttr(0));
    resultSizes.push_back(index ? sizes[*index] : extent);
  }
  return success();
}

/// Copies a region with indices that are moved by `offsets`; destinations have the types of the tile's.
static void copyRegion(OpBuilder &builder, Region &from, Region &to, FormulaOp op, FormulaOp tile,
                       ArrayRef<Value> offsets) {
  if (from.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(offsets.size(), builder.getIndexType());
  llvm::append_range(types, tile.getOuts().getTypes());
  SmallVector<Location> locations =
      llvm::map_to_vector(from.getArguments(), [](BlockArgument argument) { return argument.getLoc(); });
  Block *block = builder.createBlock(&to, to.end(), types, locations);
  IRMapping mapping;
  for (auto [position, argument] : llvm::enumerate(from.getArguments())) {
    Value moved = block->getArgument(position);
    if (position < offsets.size() && offsets[position])
      moved = AddOp::create(builder, op.getLoc(), moved, offsets[position]);
    mapping.map(argument, moved);
  }
  for (Operation &inner : from.front())
    builder.clone(inner, mapping);
  auto yield = dyn_cast<YieldOp>(block->getTerminator());
  if (!yield)
    return;
  unsigned next = 0;
  for (unsigned destination = 0; destination < op.getOuts().size(); ++destination)
    for (unsigned dimension = 0; dimension < yieldOf(op).getSubscriptsOf(destination).size(); ++dimension, ++next)
      if (std::optional<unsigned> index = cutIndex(op, destination, dimension))
        yield.getSubscriptsMutable()[next].set(block->getArgument(*index));
}

/// The formula over a part of its domain, on parts of `destinations`.
static FailureOr<TilingResult> tile(FormulaOp op, OpBuilder &builder, ValueRange destinations,
                                    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes, bool guarded) {
  if (!isUnordered(op))
    return op.emitOpError("runs in the order of its loops: it is not tiled");
  if (writesTwice(op))
    return op.emitOpError("writes several places of a tensor in one step: it is not tiled");
  Location location = op.getLoc();
  SmallVector<Value> outs;
  SmallVector<Operation *> slices;
  for (auto [number, destination] : llvm::enumerate(destinations)) {
    SmallVector<OpFoldResult> places, extents;
    if (failed(op.getResultTilePosition(builder, number, offsets, sizes, places, extents)))
      return failure();
    SmallVector<OpFoldResult> strides(places.size(), builder.getIndexAttr(1));
    auto slice = tensor::ExtractSliceOp::create(builder, location, destination, places, extents, strides);
    outs.push_back(slice);
    slices.push_back(slice);
  }
  SmallVector<Value> moves, bounds;
  for (OpFoldResult offset : offsets)
    moves.push_back(isZeroInteger(offset) ? Value() : getValueOrCreateConstantIndexOp(builder, location, offset));
  SmallVector<int64_t> staticBounds;
  dispatchIndexOpFoldResults(sizes, bounds, staticBounds);
  auto part = FormulaOp::create(builder, location, ValueRange(outs).getTypes(), op.getKind(), staticBounds, bounds, outs);
  part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (guarded)
    copyRegion(builder, op.getPredicate(), part.getPredicate(), op, part, moves);
  copyRegion(builder, op.getBody(), part.getBody(), op, part, moves);
  return TilingResult{{part}, SmallVector<Value>(part.getResults()), slices};
}

FailureOr<TilingResult> FormulaOp::getTiledImplementation(OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
                                                          ArrayRef<OpFoldResult> sizes) {
  return tile(*this, builder, getOuts(), offsets, sizes, /*guarded=*/true);
}

FailureOr<SmallVector<Value>> skript::computePart(FormulaOp op, ValueRange destinations, ArrayRef<int64_t> offsets,
                                                  ArrayRef<int64_t> sizes, bool guarded) {
  OpBuilder builder(op);
  SmallVector<OpFoldResult> from = getAsIndexOpFoldResult(op.getContext(), offsets);
  SmallVector<OpFoldResult> count = getAsIndexOpFoldResult(op.getContext(), sizes);
  FailureOr<TilingResult> part = tile(op, builder, destinations, from, count, guarded);
  if (failed(part))
    return failure();
  SmallVector<Value> whole;
  for (auto [number, value, destination] : llvm::enumerate(part->tiledValues, destinations)) {
    SmallVector<OpFoldResult> places, extents;
    if (failed(op.getResultTilePosition(builder, number, from, count, places, extents)))
      return failure();
    SmallVector<OpFoldResult> strides(places.size(), builder.getIndexAttr(1));
    whole.push_back(
        tensor::InsertSliceOp::create(builder, op.getLoc(), value, destination, places, extents, strides));
  }
  return whole;
}

LogicalResult FormulaOp::getIterationDomainTileFromResultTile(OpBuilder &builder, unsigned result,
                                                              ArrayRef<OpFoldResult> offsets,
                                                              ArrayRef<OpFoldResult> sizes,
                                                              SmallVectorImpl<OpFoldResult> &domainOffsets,
                                                              SmallVectorImpl<OpFoldResult> &domainSizes) {
  SmallVector<OpFoldResult> bounds = getMixedBounds();
  domainOffsets.assign(bounds.size(), builder.getIndexAttr(0));
  domainSizes.assign(bounds.begin(), bounds.end());
  llvm::SmallDenseSet<unsigned> known;
  auto type = cast<RankedTensorType>(getOuts()[result].getType());
  for (unsigned dimension = 0; dimension < type.getRank(); ++dimension) {
    std::optional<unsigned> index = cutIndex(*this, result, dimension);
    // Elements beyond the bound have no step, and those of a diagonal no tile.
    if (!index || !known.insert(*index).second || ShapedType::isDynamic(type.getDimSize(dimension)) ||
        getStaticBounds()[*index] != type.getDimSize(dimension))
      return failure();
    domainOffsets[*index] = offsets[dimension];
    domainSizes[*index] = sizes[dimension];
  }
  return success();
}

FailureOr<TilingResult> FormulaOp::generateResultTileValue(OpBuilder &builder, unsigned result,
                                                           ArrayRef<OpFoldResult> offsets,
                                                           ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (!isUnordered(*this) || writesTwice(*this) ||
      failed(getIterationDomainTileFromResultTile(builder, result, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  FailureOr<TilingResult> tile = getTiledImplementation(builder, domainOffsets, domainSizes);
  if (failed(tile))
    return failure();
  return TilingResult{tile->tiledOps, {tile->tiledValues[result]}, tile->generatedSlices};
}
