// SPDX-License-Identifier: Apache-2.0
//===- Tiling.cpp - formulas in tiles ---------------------------------------===//
//
// A tile is the same formula over a part of the domain. The tile slices dimensions of a destination whose subscript is a
// single index, and dimensions of a read tensor that all accesses subscript by one index; the producer of such a tensor can
// be tiled as well. All other dimensions are whole, and the tile's offset is added to their subscripts.
//
//===----------------------------------------------------------------------===//

#include "skript/Skript.h"
#include "skript/Transforms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace skript;

/// The index that a subscript consists of, if it is a single index.
static std::optional<unsigned> plainIndex(FormulaOp op, Value subscript) {
  auto argument = dyn_cast<BlockArgument>(subscript);
  if (!argument || argument.getOwner()->getParentOp() != op || argument.getArgNumber() >= op.getNumIndices())
    return std::nullopt;
  return argument.getArgNumber();
}

static YieldOp yieldOf(FormulaOp op) { return cast<YieldOp>(op.getBody().front().getTerminator()); }

/// Whether the bound of an index or the extent of the destination's dimension is dynamic.
static bool isOpen(FormulaOp op, unsigned index, unsigned destination, unsigned dimension) {
  return ShapedType::isDynamic(op.getStaticBounds()[index]) ||
         cast<RankedTensorType>(op.getOuts()[destination].getType()).isDynamicDim(dimension);
}

/// The index along which a dimension of a destination is sliced: its subscript, if that index never exceeds the dimension.
/// If only a guard keeps it in bounds, tiles of the loop have no slice of the destination.
static std::optional<unsigned> cutIndex(FormulaOp op, unsigned destination, unsigned dimension) {
  std::optional<unsigned> index = plainIndex(op, yieldOf(op).getSubscriptsOf(destination)[dimension]);
  if (!index)
    return std::nullopt;
  if (isOpen(op, *index, destination, dimension))
    return op.getPredicate().empty() ? index : std::nullopt;
  int64_t extent = cast<RankedTensorType>(op.getOuts()[destination].getType()).getDimSize(dimension);
  return op.getStaticBounds()[*index] <= extent ? index : std::nullopt;
}

/// Whether each loop with a dynamic bound is by itself a subscript of a destination. If one of these loops is empty, so is
/// the destination. If another loop is empty, no step is executed, and the bounds of the other loops do not matter.
static bool writesAlongOpenLoops(FormulaOp op, unsigned destination) {
  llvm::SmallDenseSet<unsigned> alone;
  for (Value subscript : yieldOf(op).getSubscriptsOf(destination))
    if (std::optional<unsigned> index = plainIndex(op, subscript))
      alone.insert(*index);
  return llvm::all_of(llvm::enumerate(op.getStaticBounds()), [&](auto bound) {
    return !ShapedType::isDynamic(bound.value()) || alone.contains(bound.index());
  });
}

/// The sizes of a tile, clamped to the remaining elements of the destinations.
static SmallVector<OpFoldResult> withinDestinations(FormulaOp op, OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
                                                    ArrayRef<OpFoldResult> sizes) {
  AffineExpr size, extent, offset;
  bindSymbols(builder.getContext(), size, extent, offset);
  auto least = AffineMap::get(0, 3, {size, extent - offset}, builder.getContext());
  auto most = AffineMap::get(0, 1, {size, builder.getAffineConstantExpr(0)}, builder.getContext());
  SmallVector<OpFoldResult> within(sizes);
  for (auto [destination, tensor] : llvm::enumerate(op.getOuts())) {
    if (writesAlongOpenLoops(op, destination))
      continue;
    for (unsigned dimension = 0; dimension < yieldOf(op).getSubscriptsOf(destination).size(); ++dimension) {
      std::optional<unsigned> index = cutIndex(op, destination, dimension);
      if (!index || !isOpen(op, *index, destination, dimension))
        continue;
      OpFoldResult whole = tensor::getMixedSize(builder, op.getLoc(), tensor, dimension);
      OpFoldResult left = affine::makeComposedFoldedAffineMin(builder, op.getLoc(), least,
                                                              {within[*index], whole, offsets[*index]});
      within[*index] = affine::makeComposedFoldedAffineMax(builder, op.getLoc(), most, {left});
    }
  }
  return within;
}

/// Whether a step writes several elements of one tensor: its tiles would be separate tensors.
static bool writesTwice(FormulaOp op) { return op->hasAttr(FormulaOp::getSameTensorAttrName()); }

/// Whether the steps may run in any order.
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
  // Steps of a loop that is a subscript of every destination write disjoint elements.
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

/// Computes the offsets and sizes of a tile's slice of a destination.
static void cutDestination(FormulaOp op, OpBuilder &builder, unsigned destination, ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> within, SmallVector<OpFoldResult> &positions,
                           SmallVector<OpFoldResult> &sizes) {
  SmallVector<OpFoldResult> extents = tensor::getMixedSizes(builder, op.getLoc(), op.getOuts()[destination]);
  for (auto [dimension, extent] : llvm::enumerate(extents)) {
    std::optional<unsigned> index = cutIndex(op, destination, dimension);
    positions.push_back(index ? offsets[*index] : builder.getIndexAttr(0));
    sizes.push_back(index ? within[*index] : extent);
  }
}

LogicalResult FormulaOp::getResultTilePosition(OpBuilder &builder, unsigned result, ArrayRef<OpFoldResult> offsets,
                                               ArrayRef<OpFoldResult> sizes,
                                               SmallVector<OpFoldResult> &resultOffsets,
                                               SmallVector<OpFoldResult> &resultSizes) {
  cutDestination(*this, builder, result, offsets, withinDestinations(*this, builder, offsets, sizes), resultOffsets,
                 resultSizes);
  return success();
}

namespace {
/// The slice of a tensor that a tile reads, and the index along which each dimension is sliced.
struct ReadPart {
  Value part;
  SmallVector<std::optional<unsigned>> indices;
};
using ReadParts = llvm::SmallMapVector<Value, ReadPart, 4>;
} // namespace

/// Whether an index never exceeds a dimension of a tensor.
static bool staysInside(FormulaOp op, unsigned index, Value tensor, unsigned dimension) {
  int64_t bound = op.getStaticBounds()[index];
  int64_t extent = cast<RankedTensorType>(tensor.getType()).getDimSize(dimension);
  if (!ShapedType::isDynamic(bound) && !ShapedType::isDynamic(extent))
    return bound <= extent;
  return ValueBoundsConstraintSet::compare({op.getMixedBounds()[index]}, ValueBoundsConstraintSet::LE,
                                           {tensor, static_cast<int64_t>(dimension)});
}

/// The slices of captured tensors that a tile reads; empty for a tensor that is read entirely, or that operations other
/// than accesses use.
static ReadParts cutWhatIsRead(FormulaOp op, OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  ReadParts parts;
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      Value tensor = operand.get();
      auto type = dyn_cast<RankedTensorType>(tensor.getType());
      if (inner == op || !type || op->isAncestor(tensor.getParentRegion()->getParentOp()))
        continue;
      auto [entry, first] = parts.insert({tensor, {}});
      auto &indices = entry->second.indices;
      auto access = dyn_cast<AccessOp>(inner);
      if (first)
        indices.resize(type.getRank());
      for (auto [dimension, index] : llvm::enumerate(indices)) {
        std::optional<unsigned> here = access ? plainIndex(op, access.getIndices()[dimension]) : std::nullopt;
        index = first || index == here ? here : std::nullopt;
      }
    }
  });
  parts.remove_if([&](auto &entry) {
    auto &[tensor, read] = entry;
    for (auto [dimension, index] : llvm::enumerate(read.indices))
      if (index && !staysInside(op, *index, tensor, dimension))
        index = std::nullopt;
    auto isPart = [&](std::optional<unsigned> index) {
      return index && !(isZeroInteger(offsets[*index]) && isEqualConstantIntOrValue(sizes[*index], op.getMixedBounds()[*index]));
    };
    return llvm::none_of(read.indices, isPart);
  });
  for (auto &[tensor, read] : parts) {
    SmallVector<OpFoldResult> extents = tensor::getMixedSizes(builder, op.getLoc(), tensor);
    SmallVector<OpFoldResult> positions(extents.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(extents.size(), builder.getIndexAttr(1));
    for (auto [dimension, index] : llvm::enumerate(read.indices))
      if (index) {
        positions[dimension] = offsets[*index];
        extents[dimension] = sizes[*index];
      }
    read.part = tensor::ExtractSliceOp::create(builder, op.getLoc(), tensor, positions, extents, strides);
  }
  return parts;
}

/// Copies a region with indices offset by `offsets`; destinations have the types of the tile, and `parts` replace captured
/// tensors.
static void copyRegion(OpBuilder &builder, Region &from, Region &to, FormulaOp op, FormulaOp tile,
                       ArrayRef<Value> offsets, const ReadParts &parts) {
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
  block->walk([&](AccessOp access) {
    const auto *read = parts.find(access.getTensor());
    if (read == parts.end())
      return;
    access.getTensorMutable().assign(read->second.part);
    for (auto [dimension, index] : llvm::enumerate(read->second.indices))
      if (index)
        access.getIndicesMutable()[dimension].set(block->getArgument(*index));
  });
  auto yield = dyn_cast<YieldOp>(block->getTerminator());
  if (!yield)
    return;
  unsigned next = 0;
  for (unsigned destination = 0; destination < op.getOuts().size(); ++destination)
    for (unsigned dimension = 0; dimension < yieldOf(op).getSubscriptsOf(destination).size(); ++dimension, ++next)
      if (std::optional<unsigned> index = cutIndex(op, destination, dimension))
        yield.getSubscriptsMutable()[next].set(block->getArgument(*index));
}

/// The formula over a part of its domain, on slices of `destinations`; with `cutting`, read tensors are sliced as well.
static FailureOr<TilingResult> tile(FormulaOp op, OpBuilder &builder, ValueRange destinations,
                                    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> asked, bool guarded,
                                    bool cutting) {
  if (!isUnordered(op))
    return op.emitOpError("runs in the order of its loops: it is not tiled");
  if (writesTwice(op))
    return op.emitOpError("writes several elements of a tensor in one step, which tiling does not support");
  Location location = op.getLoc();
  SmallVector<OpFoldResult> sizes = withinDestinations(op, builder, offsets, asked);
  SmallVector<Value> outs;
  SmallVector<Operation *> slices;
  for (auto [number, destination] : llvm::enumerate(destinations)) {
    SmallVector<OpFoldResult> positions, extents;
    cutDestination(op, builder, number, offsets, sizes, positions, extents);
    SmallVector<OpFoldResult> strides(positions.size(), builder.getIndexAttr(1));
    auto slice = tensor::ExtractSliceOp::create(builder, location, destination, positions, extents, strides);
    outs.push_back(slice);
    slices.push_back(slice);
  }
  ReadParts parts = cutting ? cutWhatIsRead(op, builder, offsets, sizes) : ReadParts();
  for (auto &[tensor, read] : parts)
    slices.push_back(read.part.getDefiningOp());
  SmallVector<Value> moves, bounds;
  for (OpFoldResult offset : offsets)
    moves.push_back(isZeroInteger(offset) ? Value() : getValueOrCreateConstantIndexOp(builder, location, offset));
  SmallVector<int64_t> staticBounds;
  dispatchIndexOpFoldResults(sizes, bounds, staticBounds);
  auto part = FormulaOp::create(builder, location, ValueRange(outs).getTypes(), op.getKind(), staticBounds, bounds, outs);
  part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (guarded)
    copyRegion(builder, op.getPredicate(), part.getPredicate(), op, part, moves, parts);
  copyRegion(builder, op.getBody(), part.getBody(), op, part, moves, parts);
  return TilingResult{{part}, SmallVector<Value>(part.getResults()), slices};
}

FailureOr<TilingResult> FormulaOp::getTiledImplementation(OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
                                                          ArrayRef<OpFoldResult> sizes) {
  return tile(*this, builder, getOuts(), offsets, sizes, /*guarded=*/true, /*cutting=*/true);
}

FailureOr<SmallVector<Value>> skript::computePart(FormulaOp op, ValueRange destinations, ArrayRef<int64_t> offsets,
                                                  ArrayRef<int64_t> sizes, bool guarded) {
  OpBuilder builder(op);
  SmallVector<OpFoldResult> from = getAsIndexOpFoldResult(op.getContext(), offsets);
  SmallVector<OpFoldResult> count = getAsIndexOpFoldResult(op.getContext(), sizes);
  FailureOr<TilingResult> part = tile(op, builder, destinations, from, count, guarded, /*cutting=*/false);
  if (failed(part))
    return failure();
  SmallVector<Value> whole;
  for (auto [number, value, destination] : llvm::enumerate(part->tiledValues, destinations)) {
    SmallVector<OpFoldResult> positions, extents;
    if (failed(op.getResultTilePosition(builder, number, from, count, positions, extents)))
      return failure();
    SmallVector<OpFoldResult> strides(positions.size(), builder.getIndexAttr(1));
    whole.push_back(
        tensor::InsertSliceOp::create(builder, op.getLoc(), value, destination, positions, extents, strides));
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
  for (unsigned dimension = 0; dimension < offsets.size(); ++dimension) {
    std::optional<unsigned> index = cutIndex(*this, result, dimension);
    // Elements beyond the bound have no step, and elements of a diagonal no tile.
    if (!index || !known.insert(*index).second)
      return failure();
    FailureOr<bool> covered =
        ValueBoundsConstraintSet::areEqual({bounds[*index]}, {getOuts()[result], static_cast<int64_t>(dimension)});
    if (failed(covered) || !*covered)
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
