// SPDX-License-Identifier: Apache-2.0
//===- VerifyCombining.cpp - reductions, sorts, products, transforms --------===//

#include "Constraints.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

LogicalResult ReduceOp::verify() {
  if (failed(arePaired(*this, 3, getInputs().size(), 2 * getInputs().size(), "initial values")) ||
      failed(haveOneShape(*this, 1, getInputs().getTypes(), "inputs")))
    return failure();
  for (auto [input, init] : llvm::zip(getInputs(), getInitValues()))
    if (failed(sameElements(*this, 2, input.getType(), init.getType())) ||
        failed(isScalar(*this, 6, init.getType(), "an initial value")))
      return failure();
  auto input = cast<RankedTensorType>(getInputs()[0].getType());
  if (failed(constraints::verify(*this, Dimensions{"dimensions", getDimensions(), input.getRank(), 4, 5, 0})) ||
      failed(isReducer(*this, 6, 8, getBody(), "the body", getInputs().getTypes(), getResultTypes())))
    return failure();
  SmallVector<int64_t> wanted;
  for (int64_t d = 0; d < input.getRank(); ++d)
    if (!llvm::is_contained(getDimensions(), d))
      wanted.push_back(input.getDimSize(d));
  for (Type result : getResultTypes())
    if (failed(hasShape(*this, 7, cast<RankedTensorType>(result), wanted)))
      return failure();
  return success();
}

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return violates(*this, 1) << "there is nothing to sort";
  if (!llvm::equal(getInputs().getTypes(), getResultTypes()))
    return violates(*this, 2) << "inputs and results must have the same types, but are (" << getInputs().getTypes()
                              << ") and (" << getResultTypes() << ")";
  if (failed(haveOneShape(*this, 3, getInputs().getTypes(), "inputs")))
    return failure();
  int64_t rank = cast<RankedTensorType>(getInputs()[0].getType()).getRank(), dimension = getDimension();
  if (dimension < -rank || dimension >= rank)
    return violates(*this, 4) << "there is no dimension " << dimension << " in " << getInputs()[0].getType();
  SmallVector<Type> scalars;
  for (Type input : getInputs().getTypes())
    scalars.append(2, RankedTensorType::get({}, cast<RankedTensorType>(input).getElementType()));
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return hasSignature(*this, 5, getComparator(), "the comparator", scalars, pred);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// One operand of a product.
struct Factor {
  StringRef batchName, contractedName;
  RankedTensorType type;
  Extents batch, contracted;
  unsigned distinct, batchRange, contractedRange;

  LogicalResult verify(Operation *op) const {
    Dimensions batches = {batchName, batch, type.getRank(), batchRange, distinct, 0};
    Dimensions others = {contractedName, contracted, type.getRank(), contractedRange, distinct, 0};
    if (failed(constraints::verify(op, batches)) || failed(constraints::verify(op, others)))
      return failure();
    return areDistinct(op, distinct, batches, others);
  }
};
} // namespace

LogicalResult DotGeneralOp::verify() {
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  Factor lhs = {"lhs_batching_dimensions",          "lhs_contracting_dimensions",         getLhs().getType(),
                numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions(), 3, 5, 6};
  Factor rhs = {"rhs_batching_dimensions",          "rhs_contracting_dimensions",         getRhs().getType(),
                numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions(), 4, 7, 8};
  if (lhs.batch.size() != rhs.batch.size())
    return violates(*this, 1) << "as many batching dimensions are needed on both sides, but there are "
                              << lhs.batch.size() << " and " << rhs.batch.size();
  if (lhs.contracted.size() != rhs.contracted.size())
    return violates(*this, 2) << "as many contracting dimensions are needed on both sides, but there are "
                              << lhs.contracted.size() << " and " << rhs.contracted.size();
  if (failed(lhs.verify(*this)) || failed(rhs.verify(*this)))
    return failure();
  SmallVector<int64_t> wanted;
  for (auto [x, y] : llvm::zip(lhs.batch, rhs.batch)) {
    if (!fits({lhs.type.getDimSize(x)}, {rhs.type.getDimSize(y)}))
      return violates(*this, 9) << "batching extents differ: " << lhs.type << " and " << rhs.type;
    wanted.push_back(lhs.type.getDimSize(x));
  }
  for (auto [x, y] : llvm::zip(lhs.contracted, rhs.contracted))
    if (!fits({lhs.type.getDimSize(x)}, {rhs.type.getDimSize(y)}))
      return violates(*this, 10) << "contracting extents differ: " << lhs.type << " and " << rhs.type;
  if (failed(areForBoth(*this, 11, getPrecisionConfig())))
    return failure();
  for (const Factor *side : {&lhs, &rhs})
    for (int64_t d = 0; d < side->type.getRank(); ++d)
      if (!llvm::is_contained(side->batch, d) && !llvm::is_contained(side->contracted, d))
        wanted.push_back(side->type.getDimSize(d));
  if (failed(hasShape(*this, 12, getType(), wanted)))
    return failure();
  return sameElements(*this, 13, lhs.type, rhs.type);
}

//===----------------------------------------------------------------------===//
// Transforms and random bits
//===----------------------------------------------------------------------===//

LogicalResult FftOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  Extents lengths = getFftLength();
  int64_t rank = operand.getRank(), count = lengths.size();
  if (count > rank || rank != result.getRank())
    return violates(*this, 1) << "`fft_length` has " << count << " entries, but operand and result are " << operand
                              << " and " << result;
  FftType type = getFftType();
  bool fromReal = type == FftType::RFFT, toReal = type == FftType::IRFFT;
  auto from = dyn_cast<ComplexType>(operand.getElementType()), to = dyn_cast<ComplexType>(result.getElementType());
  Type fromPart = from ? from.getElementType() : operand.getElementType();
  Type toPart = to ? to.getElementType() : result.getElementType();
  if (bool(from) == fromReal || bool(to) == toReal || fromPart != toPart || !isa<FloatType>(fromPart))
    return violates(*this, 2) << stringifyFftType(type) << " is from " << (fromReal ? "real" : "complex") << " to "
                              << (toReal ? "real" : "complex") << " elements of one precision, but operand and result are "
                              << operand << " and " << result;
  if (count < 1 || count > 3)
    return violates(*this, 3) << "`fft_length` must have 1 to 3 entries, but has " << count;
  // The specification requires this only for the real side; for complex transforms, other lengths are meaningless, too.
  RankedTensorType whole = toReal ? result : operand;
  if (!fits(whole.getShape().take_back(count), lengths))
    return violates(*this, 4) << "`fft_length` is [" << lengths << "], but the last extents of " << whole
                              << " must be the same";
  SmallVector<int64_t> wanted(whole.getShape());
  if ((fromReal || toReal) && !ShapedType::isDynamic(wanted.back()))
    wanted.back() = wanted.back() == 0 ? 0 : wanted.back() / 2 + 1;
  return hasShape(*this, 5, toReal ? operand : result, wanted, toReal ? "operand" : "result");
}

LogicalResult RngBitGeneratorOp::verify() {
  RankedTensorType state = getInitialState().getType(), next = getOutputState().getType();
  if (state.getElementType() != next.getElementType() || !oneShape(state, next))
    return violates(*this, 1) << "both states must have one type, but are " << state << " and " << next;
  return success();
}
