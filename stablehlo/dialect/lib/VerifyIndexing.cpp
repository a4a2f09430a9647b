// SPDX-License-Identifier: Apache-2.0
//===- VerifyIndexing.cpp - accesses at run-time indices --------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  size_t rank = operand.getRank();
  if (failed(sameElements(*this, 1, operand, getType())) ||
      failed(hasSize(*this, 2, "start_indices", getStartIndices().size(), rank)) ||
      failed(hasSize(*this, 2, "slice_sizes", getSliceSizes().size(), rank)) ||
      failed(arePlaces(*this, 3, getStartIndices().getTypes())) ||
      failed(areWithin(*this, 4, "a slice", getSliceSizes(), operand.getShape())))
    return failure();
  return hasShape(*this, 5, getType(), getSliceSizes());
}

LogicalResult DynamicUpdateSliceOp::verify() {
  RankedTensorType operand = getOperand().getType(), update = getUpdate().getType();
  if (operand.getElementType() != getType().getElementType() || !oneShape(operand, getType()))
    return violates(*this, 1) << "operand and result must have one type, but are " << operand << " and " << getType();
  if (failed(sameElements(*this, 2, operand, update)))
    return failure();
  if (update.getRank() != operand.getRank())
    return violates(*this, 3) << "the update must have the rank of " << operand << ", but is " << update;
  if (failed(hasSize(*this, 4, "start_indices", getStartIndices().size(), operand.getRank())) ||
      failed(arePlaces(*this, 5, getStartIndices().getTypes())))
    return failure();
  for (int64_t d = 0; d < operand.getRank(); ++d)
    if (!update.isDynamicDim(d) && !operand.isDynamicDim(d) && update.getDimSize(d) > operand.getDimSize(d))
      return violates(*this, 6) << "the update " << update << " leaves dimension " << d << " of " << operand;
  return success();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

namespace {
/// The constraints that gather and scatter share. Windows are slices of the operand, which start at the index vectors.
/// Some dimensions of a window are dropped, some correspond to batching dimensions of the indices, and all other
/// dimensions belong to the tensor of windows.
struct Windows {
  RankedTensorType operand, indices;
  Dimensions window, dropped, operandBatching, indicesBatching, indexed;
  int64_t indexVector;
  /// Numbers of the constraints: the lists cover `rank(operand)`; `dropped` and `operandBatching` are distinct;
  /// `indicesBatching` does not contain the index vector; the batching lists have the same size and the same extents;
  /// size and distinctness of `indexed`; range of `indexVector`.
  unsigned rank, distinct, apart, paired, extents, size, indexedOnce, range;

  LogicalResult verify(Operation *op) const {
    for (const Dimensions *list : {&window, &dropped, &operandBatching, &indicesBatching, &indexed})
      if (failed(constraints::verify(op, *list)))
        return failure();
    if (int64_t(window.list.size() + dropped.list.size() + operandBatching.list.size()) != operand.getRank())
      return violates(op, rank) << '`' << window.name << "`, `" << dropped.name << "` and `" << operandBatching.name
                                << "` must have as many entries as " << operand << " has dimensions, but have "
                                << window.list.size() << ", " << dropped.list.size() << " and "
                                << operandBatching.list.size();
    if (failed(areDistinct(op, distinct, dropped, operandBatching)) ||
        failed(areDistinct(op, indexedOnce, indexed, operandBatching)))
      return failure();
    if (indexVector < 0 || indexVector > indices.getRank())
      return violates(op, range) << "`index_vector_dim` is " << indexVector << ", but must be from 0 to the rank of "
                                 << indices;
    if (llvm::is_contained(indicesBatching.list, indexVector))
      return violates(op, apart) << '`' << indicesBatching.name << "` is [" << indicesBatching.list
                                 << "], but must not hold `index_vector_dim`, which is " << indexVector;
    if (operandBatching.list.size() != indicesBatching.list.size())
      return violates(op, paired) << '`' << operandBatching.name << "` and `" << indicesBatching.name
                                  << "` must have as many entries, but have " << operandBatching.list.size() << " and "
                                  << indicesBatching.list.size();
    for (auto [x, y] : llvm::zip(operandBatching.list, indicesBatching.list))
      if (!fits({operand.getDimSize(x)}, {indices.getDimSize(y)}))
        return violates(op, extents) << "batching extents differ: dimension " << x << " of " << operand
                                     << " and dimension " << y << " of " << indices;
    int64_t length = indexVector < indices.getRank() ? indices.getDimSize(indexVector) : 1;
    return ShapedType::isDynamic(length) ? success() : hasSize(op, size, indexed.name, indexed.list.size(), length);
  }

  /// The rank of the tensor of windows.
  static int64_t rankOf(RankedTensorType indices, int64_t indexVector, Extents window) {
    return indices.getRank() - (indexVector < indices.getRank()) + int64_t(window.size());
  }

  /// The shape of the tensor of windows: the extents of the indices and of a window, interleaved.
  SmallVector<int64_t> shape(Extents sizes) const {
    SmallVector<int64_t> outer, inner, all;
    for (int64_t d = 0; d < indices.getRank(); ++d)
      if (d != indexVector)
        outer.push_back(indices.getDimSize(d));
    for (int64_t d = 0; d < operand.getRank(); ++d)
      if (!llvm::is_contained(dropped.list, d) && !llvm::is_contained(operandBatching.list, d))
        inner.push_back(sizes[d]);
    size_t fromInner = 0, fromOuter = 0, count = outer.size() + inner.size();
    for (size_t d = 0; d < count; ++d)
      all.push_back(llvm::is_contained(window.list, int64_t(d)) ? inner[fromInner++] : outer[fromOuter++]);
    return all;
  }
};
} // namespace

LogicalResult GatherOp::verify() {
  GatherDimensionNumbersAttr numbers = getDimensionNumbers();
  RankedTensorType operand = getOperand().getType(), indices = getStartIndices().getType();
  int64_t rank = operand.getRank(), vector = numbers.getIndexVectorDim();
  Windows windows = {
      operand,
      indices,
      {"offset_dims", numbers.getOffsetDims(), Windows::rankOf(indices, vector, numbers.getOffsetDims()), 5, 4, 4},
      {"collapsed_slice_dims", numbers.getCollapsedSliceDims(), rank, 8, 6, 7},
      {"operand_batching_dims", numbers.getOperandBatchingDims(), rank, 11, 6, 10},
      {"start_indices_batching_dims", numbers.getStartIndicesBatchingDims(), indices.getRank(), 14, 13, 0},
      {"start_index_map", numbers.getStartIndexMap(), rank, 19, 18, 0},
      vector,
      /*rank=*/1,
      /*distinct=*/6,
      /*apart=*/15,
      /*paired=*/16,
      /*extents=*/17,
      /*size=*/3,
      /*indexedOnce=*/18,
      /*range=*/2};
  if (failed(windows.verify(*this)) ||
      failed(hasSize(*this, 20, "slice_sizes", getSliceSizes().size(), operand.getRank())) ||
      failed(areWithin(*this, 21, "a slice", getSliceSizes(), operand.getShape())))
    return failure();
  for (auto [constraint, list] : {std::pair(9, windows.dropped), std::pair(12, windows.operandBatching)})
    for (int64_t dimension : list.list)
      if (getSliceSizes()[dimension] > 1)
        return violates(*this, constraint) << "a slice must be 1 at most along `" << list.name << "`, but is "
                                           << getSliceSizes()[dimension] << " along dimension " << dimension;
  if (failed(hasShape(*this, 22, getType(), windows.shape(getSliceSizes()))))
    return failure();
  return sameElements(*this, 23, operand, getType());
}

LogicalResult ScatterOp::verify() {
  ScatterDimensionNumbersAttr numbers = getScatterDimensionNumbers();
  if (failed(arePaired(*this, 5, getInputs().size(), 2 * getInputs().size() + 1, "updates")) ||
      failed(haveOneShape(*this, 1, getInputs().getTypes(), "inputs")) ||
      failed(haveOneShape(*this, 3, getUpdates().getTypes(), "updates")))
    return failure();
  for (auto [input, update] : llvm::zip(getInputs(), getUpdates()))
    if (failed(sameElements(*this, 6, input.getType(), update.getType())))
      return failure();
  auto input = cast<RankedTensorType>(getInputs()[0].getType()), updates = cast<RankedTensorType>(getUpdates()[0].getType());
  RankedTensorType indices = getScatterIndices().getType();
  int64_t rank = input.getRank();
  Windows windows = {
      input,
      indices,
      {"update_window_dims", numbers.getUpdateWindowDims(), updates.getRank(), 8, 7, 7},
      {"inserted_window_dims", numbers.getInsertedWindowDims(), rank, 11, 9, 10},
      {"input_batching_dims", numbers.getInputBatchingDims(), rank, 13, 9, 12},
      {"scatter_indices_batching_dims", numbers.getScatterIndicesBatchingDims(), indices.getRank(), 15, 14, 0},
      {"scatter_dims_to_operand_dims", numbers.getScatterDimsToOperandDims(), rank, 21, 20, 0},
      numbers.getIndexVectorDim(),
      /*rank=*/2,
      /*distinct=*/9,
      /*apart=*/16,
      /*paired=*/17,
      /*extents=*/18,
      /*size=*/19,
      /*indexedOnce=*/20,
      /*range=*/22};
  if (failed(windows.verify(*this)))
    return failure();
  if (updates.getRank() != Windows::rankOf(indices, numbers.getIndexVectorDim(), numbers.getUpdateWindowDims()))
    return violates(*this, 4) << "the updates are " << updates << ", but must have the dimensions of " << indices
                              << " without the index vector, and those of a window";
  // A window of the updates may be smaller than the input, so the expected extents are those of the updates.
  SmallVector<int64_t> sizes(rank, 1);
  const int64_t *next = numbers.getUpdateWindowDims().begin();
  for (int64_t d = 0; d < rank; ++d) {
    if (llvm::is_contained(windows.dropped.list, d) || llvm::is_contained(windows.operandBatching.list, d))
      continue;
    sizes[d] = updates.getDimSize(*next++);
    if (!ShapedType::isDynamic(sizes[d]) && !input.isDynamicDim(d) && sizes[d] > input.getDimSize(d))
      return violates(*this, 4) << "a window of the updates " << updates << " leaves dimension " << d << " of " << input;
  }
  if (failed(hasShape(*this, 4, updates, windows.shape(sizes), "type of the updates")) ||
      failed(isReducer(*this, 23, 25, getUpdateComputation(), "the update computation", getInputs().getTypes(),
                       getResultTypes())))
    return failure();
  for (auto [input, result] : llvm::zip(getInputs().getTypes(), getResultTypes()))
    if (!oneShape(input, result))
      return violates(*this, 24) << "an input and its result must have one shape, but are " << input << " and "
                                 << result;
  return success();
}
