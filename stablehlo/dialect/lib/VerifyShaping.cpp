// SPDX-License-Identifier: Apache-2.0
//===- VerifyShaping.cpp - creation and movement of elements ----------------===//

#include "Constraints.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank(), dimension = getIotaDimension();
  if (dimension >= 0 && dimension < rank)
    return success();
  return violates(*this, 1) << "there is no dimension " << dimension << " in " << getType();
}

LogicalResult GetDimensionSizeOp::verify() {
  RankedTensorType operand = getOperand().getType();
  int64_t dimension = getDimension();
  if (dimension >= 0 && dimension < operand.getRank())
    return success();
  return violates(*this, 1) << "there is no dimension " << dimension << " in " << operand;
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  if (failed(sameElements(*this, 1, operand, result)))
    return failure();
  if (failed(hasSize(*this, 2, "dims", dimensions.size(), operand.getRank())) ||
      failed(constraints::verify(*this, Dimensions{"dims", dimensions, result.getRank(), 3, 4, 0})))
    return failure();
  for (auto [dimension, target] : llvm::enumerate(dimensions)) {
    int64_t from = operand.getDimSize(dimension), to = result.getDimSize(target);
    if (from != 1 && !fits({from}, {to}))
      return violates(*this, 5) << "dimension " << dimension << " has extent " << from << ", dimension " << target
                                << " of the result has " << to;
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  if (failed(sameElements(*this, 1, operand, result)))
    return failure();
  if (operand.hasStaticShape() && result.hasStaticShape() && operand.getNumElements() != result.getNumElements())
    return violates(*this, 2) << operand << " and " << result << " differ in their number of elements";
  return success();
}

int64_t constraints::bitsOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * bitsOf(complex.getElementType());
  return element.getIntOrFloatBitWidth();
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  Type from = operand.getElementType(), to = result.getElementType();
  if (isa<ComplexType>(from) != isa<ComplexType>(to))
    return violates(*this, 2) << "both element types must be complex or none, but they are " << from << " and " << to;
  // The shapes are equal, except that the tensor with the narrower elements has an additional last dimension, which
  // enumerates the parts of a wide element.
  int64_t bits[] = {bitsOf(from), bitsOf(to)};
  SmallVector<int64_t> shapes[] = {llvm::to_vector(operand.getShape()), llvm::to_vector(result.getShape())};
  if (bits[0] != bits[1]) {
    bool widens = bits[0] < bits[1];
    shapes[widens].push_back(bits[widens] / bits[!widens]);
  }
  if (!fits(shapes[0], shapes[1]))
    return violates(*this, 1) << operand << " has no " << result << " of the same bits";
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType operand = getOperand().getType();
  ArrayRef<int64_t> order = getPermutation();
  if (failed(sameElements(*this, 1, operand, getType())))
    return failure();
  if (failed(hasSize(*this, 2, "dims", order.size(), operand.getRank())) ||
      failed(constraints::verify(*this, Dimensions{"dims", order, operand.getRank(), 2, 2, 0})))
    return failure();
  SmallVector<int64_t> wanted;
  for (int64_t dimension : order)
    wanted.push_back(operand.getDimSize(dimension));
  return hasShape(*this, 3, getType(), wanted);
}

LogicalResult ReverseOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (operand.getElementType() != getType().getElementType() || !oneShape(operand, getType()))
    return violates(*this, 1) << "operand and result must have one type, but are " << operand << " and " << getType();
  return constraints::verify(*this, Dimensions{"dims", getDimensions(), getType().getRank(), 3, 2, 0});
}

LogicalResult SliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (failed(sameElements(*this, 1, operand, getType())))
    return failure();
  size_t rank = operand.getRank();
  if (getStartIndices().size() != rank || getLimitIndices().size() != rank || getStrides().size() != rank)
    return violates(*this, 2) << "there must be one range per dimension of " << operand << ", but there are "
                              << getStartIndices().size() << " starts, " << getLimitIndices().size() << " limits and "
                              << getStrides().size() << " strides";
  SmallVector<int64_t> wanted;
  for (size_t d = 0; d < rank; ++d) {
    int64_t start = getStartIndices()[d], limit = getLimitIndices()[d], stride = getStrides()[d];
    bool inside = operand.isDynamicDim(d) || limit <= operand.getDimSize(d);
    if (start < 0 || start > limit || !inside)
      return violates(*this, 3) << "range " << start << ":" << limit << " of dimension " << d << " leaves " << operand;
    if (stride <= 0)
      return violates(*this, 4) << "the stride of dimension " << d << " must be positive, but is " << stride;
    wanted.push_back(limit == start ? 0 : (limit - start - 1) / stride + 1);
  }
  return hasShape(*this, 5, getType(), wanted);
}

LogicalResult PadOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (failed(sameElements(*this, 1, operand, getType())) ||
      failed(sameElements(*this, 1, operand, getPaddingValue().getType())) ||
      failed(isScalar(*this, 1, getPaddingValue().getType(), "the padding value")))
    return failure();
  size_t rank = operand.getRank();
  if (getEdgePaddingLow().size() != rank || getEdgePaddingHigh().size() != rank ||
      getInteriorPadding().size() != rank)
    return violates(*this, 2) << "there must be one padding per dimension of " << operand << ", but there are "
                              << getEdgePaddingLow().size() << " below, " << getEdgePaddingHigh().size()
                              << " above and " << getInteriorPadding().size() << " inside";
  SmallVector<int64_t> wanted;
  for (size_t d = 0; d < rank; ++d) {
    int64_t low = getEdgePaddingLow()[d], high = getEdgePaddingHigh()[d], interior = getInteriorPadding()[d];
    if (interior < 0)
      return violates(*this, 3) << "the interior padding of dimension " << d << " must not be negative, but is "
                                << interior;
    int64_t extent = operand.getDimSize(d);
    if (ShapedType::isDynamic(extent)) {
      wanted.push_back(extent);
      continue;
    }
    std::optional<int64_t> padded = llvm::checkedMulAdd(std::max<int64_t>(extent - 1, 0), interior, extent);
    for (int64_t border : {low, high})
      padded = padded ? llvm::checkedAdd(*padded, border) : padded;
    if (!padded || *padded < 0)
      return violates(*this, 4) << "extent " << extent << " of dimension " << d << " with paddings " << low << ", " << high
                                << " and " << interior << " inside gives none that a tensor can have";
    wanted.push_back(*padded);
  }
  return hasShape(*this, 4, getType(), wanted);
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return violates(*this, 3) << "there is nothing to concatenate";
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  RankedTensorType result = getType();
  int64_t dimension = getDimension();
  std::optional<int64_t> total = 0;
  if (dimension < 0 || dimension >= first.getRank())
    return violates(*this, 4) << "there is no dimension " << dimension << " in " << first;
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (failed(sameElements(*this, 1, type, first)) || failed(sameElements(*this, 5, type, result)))
      return failure();
    for (auto [constraint, other] : {std::pair(2, first), std::pair(6, result)}) {
      if (type.getRank() != other.getRank())
        return violates(*this, constraint) << "ranks differ: " << type << " and " << other;
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (d != dimension && !fits({type.getDimSize(d)}, {other.getDimSize(d)}))
          return violates(*this, constraint) << type << " does not fit " << other << " in dimension " << d;
    }
    bool known = total != ShapedType::kDynamic && !type.isDynamicDim(dimension);
    total = !total ? total : known ? llvm::checkedAdd(*total, type.getDimSize(dimension)) : ShapedType::kDynamic;
  }
  if (!total)
    return violates(*this, 6) << "64 bits do not hold the sum of the extents along dimension " << dimension;
  if (!fits({*total}, {result.getDimSize(dimension)}))
    return violates(*this, 6) << "the extents along dimension " << dimension << " add up to " << *total
                              << ", but the result is " << result;
  return success();
}
