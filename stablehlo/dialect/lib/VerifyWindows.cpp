// SPDX-License-Identifier: Apache-2.0
//===- VerifyWindows.cpp - sliding windows ----------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

namespace {
/// The dimension numbers of one operand or of the result of a convolution, and its type.
struct Side {
  StringRef role;
  RankedTensorType type;
  int64_t first, second;
  Extents spatial;
  unsigned size, valid;

  LogicalResult verify(Operation *op, int64_t rank) const {
    if (int64_t(spatial.size()) != rank - 2)
      return violates(op, size) << "there must be " << rank - 2 << " spatial dimensions of the " << role << ", but there are "
                                << spatial.size();
    SmallVector<int64_t> all = {first, second};
    llvm::append_range(all, spatial);
    return constraints::verify(op, Dimensions{role, all, rank, valid, valid, 0});
  }

  SmallVector<int64_t> extents() const {
    return llvm::map_to_vector(spatial, [&](int64_t d) { return type.getDimSize(d); });
  }
};

LogicalResult divides(Operation *op, unsigned constraint, StringRef name, int64_t count, StringRef what, int64_t extent) {
  if (ShapedType::isDynamic(extent) || extent % count == 0)
    return success();
  return violates(op, constraint) << '`' << name << "` is " << count << ", but must divide the " << what << ", which are "
                                  << extent;
}
} // namespace

LogicalResult ConvolutionOp::verify() {
  ConvDimensionNumbersAttr numbers = getDimensionNumbers();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  int64_t rank = lhs.getRank(), features = getFeatureGroupCount(), batches = getBatchGroupCount();
  if (rank != rhs.getRank() || rank < 2)
    return violates(*this, 1) << "both operands must have one rank of 2 at least, but are " << lhs << " and " << rhs;
  if (result.getRank() != rank)
    return violates(*this, 26) << "the result must have the rank of the operands, but is " << result << " for " << lhs;
  Side input = {"input", lhs, numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                numbers.getInputSpatialDimensions(), 12, 13};
  Side kernel = {"kernel", rhs, numbers.getKernelInputFeatureDimension(), numbers.getKernelOutputFeatureDimension(),
                 numbers.getKernelSpatialDimensions(), 17, 18};
  Side output = {"output", result, numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                 numbers.getOutputSpatialDimensions(), 19, 20};
  for (const Side *side : {&input, &kernel, &output})
    if (failed(side->verify(*this, rank)))
      return failure();
  SmallVector<int64_t> extents = kernel.extents();
  Window window = {extents,
                   {"window_strides", getWindowStrides(), 2, 3},
                   {"lhs_dilation", getLhsDilation(), 5, 6},
                   {"rhs_dilation", getRhsDilation(), 7, 8},
                   getPadding(),
                   4};
  if (failed(constraints::verify(*this, window)) ||
      (getWindowReversal() && failed(hasSize(*this, 9, "window_reversal", getWindowReversal()->size(), rank - 2))))
    return failure();
  for (auto [name, count, constraint] : {std::tuple("feature_group_count", features, 21), std::tuple("batch_group_count", batches, 22)})
    if (count <= 0)
      return violates(*this, constraint) << '`' << name << "` must be positive, but is " << count;
  if (features != 1 && batches != 1)
    return violates(*this, 23) << "`feature_group_count` or `batch_group_count` must be 1, but they are " << features
                               << " and " << batches;
  int64_t taken = lhs.getDimSize(input.second), given = rhs.getDimSize(kernel.second);
  if (failed(divides(*this, 10, "batch_group_count", batches, "batches of the input", lhs.getDimSize(input.first))) ||
      failed(divides(*this, 11, "feature_group_count", features, "features of the input", taken)) ||
      failed(divides(*this, 15, "batch_group_count", batches, "features of the output", given)) ||
      failed(divides(*this, 16, "feature_group_count", features, "features of the output", given)))
    return failure();
  if (!ShapedType::isDynamic(taken) && !fits({taken / features}, {rhs.getDimSize(kernel.first)}))
    return violates(*this, 14) << "the kernel must have " << taken / features << " features of the input, " << taken
                               << " in " << features << " groups, but has " << rhs.getDimSize(kernel.first);
  FailureOr<SmallVector<int64_t>> counts = places(*this, 25, window, input.extents());
  if (failed(areForBoth(*this, 24, getPrecisionConfig())) || failed(counts))
    return failure();
  SmallVector<int64_t> wanted(rank);
  int64_t batch = lhs.getDimSize(input.first);
  wanted[output.first] = ShapedType::isDynamic(batch) ? batch : batch / batches;
  wanted[output.second] = given;
  for (auto [dimension, count] : llvm::zip(output.spatial, *counts))
    wanted[dimension] = count;
  if (failed(hasShape(*this, 25, result, wanted)))
    return failure();
  return sameElements(*this, 27, lhs, rhs);
}

LogicalResult ReduceWindowOp::verify() {
  if (failed(arePaired(*this, 1, getInputs().size(), 2 * getInputs().size(), "initial values")) ||
      failed(haveOneShape(*this, 2, getInputs().getTypes(), "inputs")))
    return failure();
  for (auto [input, init] : llvm::zip(getInputs(), getInitValues()))
    if (failed(sameElements(*this, 3, input.getType(), init.getType())) ||
        failed(isScalar(*this, 3, init.getType(), "an initial value")))
      return failure();
  auto input = cast<RankedTensorType>(getInputs()[0].getType());
  Extents extents = getWindowDimensions();
  if (failed(hasSize(*this, 4, "window_dimensions", extents.size(), input.getRank())))
    return failure();
  Window window = {extents,
                   {"window_strides", getWindowStrides(), 6, 7},
                   {"base_dilations", getBaseDilations(), 8, 9},
                   {"window_dilations", getWindowDilations(), 10, 11},
                   getPadding(),
                   12};
  if (failed(arePositive(*this, 5, "window_dimensions", extents)) || failed(constraints::verify(*this, window)) ||
      failed(isReducer(*this, 13, 16, getBody(), "the body", getInputs().getTypes(), getResultTypes())) ||
      failed(haveOneShape(*this, 14, getResultTypes(), "results")))
    return failure();
  FailureOr<SmallVector<int64_t>> counts = places(*this, 15, window, input.getShape());
  return failed(counts) ? failure() : hasShape(*this, 15, cast<RankedTensorType>(getResultTypes()[0]), *counts);
}

LogicalResult SelectAndScatterOp::verify() {
  RankedTensorType operand = getOperand().getType(), source = getSource().getType(), init = getInitValue().getType();
  if (failed(sameElements(*this, 1, operand, source)) || failed(sameElements(*this, 3, operand, init)) ||
      failed(isScalar(*this, 3, init, "the initial value")))
    return failure();
  SmallVector<int64_t> ones(operand.getRank(), 1);
  Extents extents = getWindowDimensions().value_or(Extents(ones));
  if (failed(hasSize(*this, 4, "window_dimensions", extents.size(), operand.getRank())))
    return failure();
  Window window = {extents, {"window_strides", getWindowStrides(), 6, 7}, {}, {}, getPadding(), 8};
  if (failed(arePositive(*this, 5, "window_dimensions", extents)) || failed(constraints::verify(*this, window)))
    return failure();
  FailureOr<SmallVector<int64_t>> counts = places(*this, 2, window, operand.getShape());
  if (failed(counts) || failed(hasShape(*this, 2, source, *counts, "source")))
    return failure();
  auto scalar = RankedTensorType::get({}, operand.getElementType());
  auto pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(hasSignature(*this, 9, getSelect(), "the selection", {scalar, scalar}, {pred})) ||
      failed(isReducer(*this, 10, 12, getScatter(), "the scatter computation", getOperand().getType(),
                       (*this)->getResultTypes())))
    return failure();
  if (!oneShape(operand, getType()))
    return violates(*this, 11) << "operand and result must have one shape, but are " << operand << " and " << getType();
  return success();
}
