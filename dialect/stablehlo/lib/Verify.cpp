//===- Verify.cpp - constraints under their labels ---------------------------===//

#include "skript-stablehlo/Stablehlo.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace skript_stablehlo;

namespace {
/// `'stablehlo.add' op add_c1: …`
InFlightDiagnostic violates(Operation *op, unsigned constraint) {
  return op->emitOpError() << op->getName().stripDialect() << "_c" << constraint << ": ";
}

SmallVector<Type> allTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

/// Extents that are known on both sides agree.
bool fits(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto [x, y] = pair;
           return ShapedType::isDynamic(x) || ShapedType::isDynamic(y) || x == y;
         });
}

bool oneShape(Type a, Type b) {
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  return x && y ? fits(x.getShape(), y.getShape()) : !x && !y;
}

/// Distinct, and below `rank`.
bool areDimensions(ArrayRef<int64_t> dimensions, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank || seen[dimension])
      return false;
    seen.set(dimension);
  }
  return true;
}

LogicalResult sameElements(Operation *op, unsigned constraint, Type a, Type b) {
  if (getElementTypeOrSelf(a) == getElementTypeOrSelf(b))
    return success();
  return violates(op, constraint) << "element types differ: " << a << " and " << b;
}

LogicalResult hasShape(Operation *op, unsigned constraint, RankedTensorType type, ArrayRef<int64_t> wanted) {
  if (fits(type.getShape(), wanted))
    return success();
  return violates(op, constraint) << "the result is " << type << ", but its shape should be [" << wanted << "]";
}
} // namespace

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult constraints::verifyOneType(Operation *op) {
  SmallVector<Type> types = allTypes(op);
  for (Type type : ArrayRef(types).drop_front())
    if (getElementTypeOrSelf(type) != getElementTypeOrSelf(types[0]) || !oneShape(type, types[0]))
      return violates(op, 1) << "operands and result must have one type, but there are " << types[0] << " and " << type;
  return success();
}

LogicalResult constraints::verifyOneShape(Operation *op) {
  SmallVector<Type> types = allTypes(op);
  for (Type type : ArrayRef(types).drop_front())
    if (!oneShape(type, types[0]))
      return violates(op, 1) << "operands and result must have one shape, but there are " << types[0] << " and "
                             << type;
  return success();
}

LogicalResult constraints::verifyModulus(Operation *op) {
  Type operand = op->getOperand(0).getType(), result = op->getResult(0).getType();
  if (!oneShape(operand, result))
    return violates(op, 1) << "operand and result must have one shape, but are " << operand << " and " << result;
  Type element = getElementTypeOrSelf(operand);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (getElementTypeOrSelf(result) != element)
    return violates(op, 2) << "for " << operand << " the result's element type must be " << element << ", but it is "
                           << result;
  return success();
}

LogicalResult constraints::verifyComparison(Operation *op) {
  Type lhs = op->getOperand(0).getType(), rhs = op->getOperand(1).getType();
  if (failed(sameElements(op, 1, lhs, rhs)))
    return failure();
  if (!oneShape(lhs, rhs) || !oneShape(lhs, op->getResult(0).getType()))
    return violates(op, 2) << "operands and result must have one shape";
  return success();
}

LogicalResult SelectOp::verify() {
  Type values = getOnTrue().getType();
  if (getOnFalse().getType() != values || getResult().getType() != values)
    return violates(*this, 2) << "both values and the result must have one type";
  auto condition = dyn_cast<RankedTensorType>(getPred().getType());
  if (condition && condition.getRank() != 0 && !oneShape(condition, values))
    return violates(*this, 1) << "the condition must be a scalar or have the shape of the values, but is " << condition
                              << " for " << values;
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  if (int32_t(getExponentBits()) < 1)
    return violates(*this, 2) << "there must be a bit of exponent at least";
  if (int32_t(getMantissaBits()) < 0)
    return violates(*this, 3) << "the number of bits of the mantissa is negative";
  return success();
}

LogicalResult ConstantOp::verify() {
  if (getValue().getType() == getOutput().getType())
    return success();
  return violates(*this, 1) << "value and result must have one type, but are " << getValue().getType() << " and "
                            << getOutput().getType();
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank(), dimension = getIotaDimension();
  if (dimension >= 0 && dimension < rank)
    return success();
  return violates(*this, 1) << "there is no dimension " << dimension << " in " << getType();
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  if (failed(sameElements(*this, 1, operand, result)))
    return failure();
  if (int64_t(dimensions.size()) != operand.getRank())
    return violates(*this, 2) << "there must be one entry of `dims` per dimension of the operand";
  if (!areDimensions(dimensions, result.getRank()))
    return violates(*this, 3) << "`dims` must be distinct dimensions of " << result;
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

/// Bits of an element; both parts of a complex one.
static int64_t bitsOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * bitsOf(complex.getElementType());
  return element.getIntOrFloatBitWidth();
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType operand = getOperand().getType(), result = getType();
  Type from = operand.getElementType(), to = result.getElementType();
  if (isa<ComplexType>(from) != isa<ComplexType>(to))
    return violates(*this, 2) << "both element types must be complex or none, but they are " << from << " and " << to;
  // One shape, but that the one with the narrower elements has a last dimension, of those that make up a wide one.
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
  if (int64_t(order.size()) != operand.getRank() || !areDimensions(order, operand.getRank()))
    return violates(*this, 2) << "`dims` must name each dimension of " << operand << " once";
  SmallVector<int64_t> wanted;
  for (int64_t dimension : order)
    wanted.push_back(operand.getDimSize(dimension));
  return hasShape(*this, 3, getType(), wanted);
}

LogicalResult ReverseOp::verify() {
  if (getOperand().getType() != getType())
    return violates(*this, 1) << "operand and result must have one type";
  if (!areDimensions(getDimensions(), getType().getRank()))
    return violates(*this, 2) << "`dims` must be distinct dimensions of " << getType();
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (failed(sameElements(*this, 1, operand, getType())))
    return failure();
  size_t rank = operand.getRank();
  if (getStartIndices().size() != rank || getLimitIndices().size() != rank || getStrides().size() != rank)
    return violates(*this, 2) << "there must be one range per dimension of " << operand;
  SmallVector<int64_t> wanted;
  for (size_t d = 0; d < rank; ++d) {
    int64_t start = getStartIndices()[d], limit = getLimitIndices()[d], stride = getStrides()[d];
    bool inside = operand.isDynamicDim(d) || limit <= operand.getDimSize(d);
    if (start < 0 || start > limit || !inside)
      return violates(*this, 3) << "range " << start << ":" << limit << " of dimension " << d << " leaves " << operand;
    if (stride <= 0)
      return violates(*this, 4) << "the stride of dimension " << d << " must be positive, but is " << stride;
    wanted.push_back((limit - start + stride - 1) / stride);
  }
  return hasShape(*this, 5, getType(), wanted);
}

LogicalResult PadOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (failed(sameElements(*this, 1, operand, getType())) ||
      failed(sameElements(*this, 1, operand, getPaddingValue().getType())))
    return failure();
  size_t rank = operand.getRank();
  if (getEdgePaddingLow().size() != rank || getEdgePaddingHigh().size() != rank ||
      getInteriorPadding().size() != rank)
    return violates(*this, 2) << "there must be one padding per dimension of " << operand;
  SmallVector<int64_t> wanted;
  for (size_t d = 0; d < rank; ++d) {
    int64_t interior = getInteriorPadding()[d], extent = operand.getDimSize(d);
    if (interior < 0)
      return violates(*this, 3) << "the interior padding of dimension " << d << " is negative";
    wanted.push_back(ShapedType::isDynamic(extent)
                         ? extent
                         : extent + std::max<int64_t>(extent - 1, 0) * interior + getEdgePaddingLow()[d] +
                               getEdgePaddingHigh()[d]);
  }
  return hasShape(*this, 4, getType(), wanted);
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return violates(*this, 3) << "there is nothing to concatenate";
  RankedTensorType result = getType();
  int64_t dimension = getDimension(), total = 0;
  if (dimension < 0 || dimension >= result.getRank())
    return violates(*this, 4) << "there is no dimension " << dimension << " in " << result;
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (failed(sameElements(*this, 1, type, result)))
      return failure();
    if (type.getRank() != result.getRank())
      return violates(*this, 2) << "ranks differ: " << type << " and " << result;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != dimension && !fits({type.getDimSize(d)}, {result.getDimSize(d)}))
        return violates(*this, 2) << type << " does not fit " << result << " in dimension " << d;
    if (type.isDynamicDim(dimension))
      return success();
    total += type.getDimSize(dimension);
  }
  if (!fits({total}, {result.getDimSize(dimension)}))
    return violates(*this, 6) << "the extents along dimension " << dimension << " add up to " << total
                              << ", but the result is " << result;
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (failed(sameElements(*this, 1, operand, getType())))
    return failure();
  if (int64_t(getStartIndices().size()) != operand.getRank() ||
      int64_t(getSliceSizes().size()) != operand.getRank())
    return violates(*this, 2) << "there must be one place and one size per dimension of " << operand;
  return hasShape(*this, 5, getType(), getSliceSizes());
}

LogicalResult DynamicUpdateSliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (operand != getType())
    return violates(*this, 1) << "operand and result must have one type";
  if (failed(sameElements(*this, 2, operand, getUpdate().getType())))
    return failure();
  if (getUpdate().getType().getRank() != operand.getRank() ||
      int64_t(getStartIndices().size()) != operand.getRank())
    return violates(*this, 3) << "the update and the places must have the rank of " << operand;
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType operand = getOperand().getType();
  GatherDimensionNumbersAttr numbers = getDimensionNumbers();
  if (failed(sameElements(*this, 22, operand, getType())))
    return failure();
  size_t rank = operand.getRank(), kept = numbers.getOffsetDims().size() + numbers.getCollapsedSliceDims().size() +
                                          numbers.getOperandBatchingDims().size();
  if (kept != rank || getSliceSizes().size() != rank)
    return violates(*this, 1) << "offset, collapsed and batching dimensions must be as many as " << operand
                              << " has, and so must the slice sizes";
  if (!areDimensions(numbers.getStartIndexMap(), rank))
    return violates(*this, 16) << "start_index_map must name distinct dimensions of " << operand;
  for (size_t d = 0; d < rank; ++d)
    if (getSliceSizes()[d] < 0 || (!operand.isDynamicDim(d) && getSliceSizes()[d] > operand.getDimSize(d)))
      return violates(*this, 21) << "a slice of " << getSliceSizes()[d] << " leaves dimension " << d << " of " << operand;
  return success();
}

//===----------------------------------------------------------------------===//
// Combining elements
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (getInputs().empty() || getNumResults() != getInputs().size())
    return violates(*this, 3) << "there must be one result per input";
  for (auto [input, init, result] : llvm::zip(getInputs(), getInitValues(), getResults())) {
    auto from = cast<RankedTensorType>(input.getType()), to = cast<RankedTensorType>(result.getType());
    if (!areDimensions(getDimensions(), from.getRank()))
      return violates(*this, 5) << "dimensions must be distinct dimensions of " << from;
    if (cast<RankedTensorType>(init.getType()).getRank() != 0)
      return violates(*this, 6) << "an initial value must be a scalar tensor, but is " << init.getType();
    SmallVector<int64_t> wanted;
    for (int64_t d = 0; d < from.getRank(); ++d)
      if (!llvm::is_contained(getDimensions(), d))
        wanted.push_back(from.getDimSize(d));
    if (failed(hasShape(*this, 7, to, wanted)))
      return failure();
  }
  Block &body = getBody().front();
  if (body.getNumArguments() != 2 * getInputs().size())
    return violates(*this, 6) << "the body must take " << 2 * getInputs().size() << " values";
  return success();
}

LogicalResult DotGeneralOp::verify() {
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), sides[] = {lhs, rhs};
  ArrayRef<int64_t> batch[] = {numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()};
  ArrayRef<int64_t> contracted[] = {numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()};
  if (batch[0].size() != batch[1].size())
    return violates(*this, 1) << "as many batching dimensions are needed on both sides";
  if (contracted[0].size() != contracted[1].size())
    return violates(*this, 2) << "as many contracting dimensions are needed on both sides";
  SmallVector<int64_t> wanted;
  for (auto [side, type] : llvm::enumerate(sides)) {
    SmallVector<int64_t> all(batch[side]);
    llvm::append_range(all, contracted[side]);
    if (!areDimensions(all, type.getRank()))
      return violates(*this, 3 + side) << "batching and contracting dimensions must be distinct dimensions of " << type;
  }
  for (auto [x, y] : llvm::zip(batch[0], batch[1])) {
    if (!fits({lhs.getDimSize(x)}, {rhs.getDimSize(y)}))
      return violates(*this, 9) << "batching extents differ: " << lhs << " and " << rhs;
    wanted.push_back(lhs.getDimSize(x));
  }
  for (auto [x, y] : llvm::zip(contracted[0], contracted[1]))
    if (!fits({lhs.getDimSize(x)}, {rhs.getDimSize(y)}))
      return violates(*this, 10) << "contracting extents differ: " << lhs << " and " << rhs;
  for (auto [side, type] : llvm::enumerate(sides))
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!llvm::is_contained(batch[side], d) && !llvm::is_contained(contracted[side], d))
        wanted.push_back(type.getDimSize(d));
  return hasShape(*this, 12, getType(), wanted);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

namespace {
LogicalResult yields(Operation *op, unsigned constraint, Region &region, TypeRange types) {
  auto end = dyn_cast_or_null<ReturnOp>(region.front().empty() ? nullptr : &region.front().back());
  if (end && end.getOperandTypes() == types)
    return success();
  return violates(op, constraint) << "a region must return the types of the results";
}
} // namespace

LogicalResult OptimizationBarrierOp::verify() {
  if (llvm::equal(getOperandTypes(), getResultTypes()))
    return success();
  return violates(*this, 1) << "operands are " << getOperandTypes() << ", results are " << getResultTypes();
}

LogicalResult WhileOp::verify() {
  if (getOperandTypes() != getResultTypes())
    return violates(*this, 3) << "operands and results must have the same types";
  if (getCond().getArgumentTypes() != getOperandTypes())
    return violates(*this, 1) << "the condition must take the operands' types";
  if (getBody().getArgumentTypes() != getOperandTypes())
    return violates(*this, 2) << "the body must take the operands' types";
  if (failed(yields(*this, 2, getBody(), getOperandTypes())))
    return failure();
  return yields(*this, 1, getCond(), RankedTensorType::get({}, IntegerType::get(getContext(), 1)));
}

LogicalResult IfOp::verify() {
  for (Region *region : getRegions())
    if (failed(yields(*this, 2, *region, getResultTypes())))
      return failure();
  return success();
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return violates(*this, 1) << "there is no branch";
  for (Region &region : getBranches())
    if (failed(yields(*this, 3, region, getResultTypes())))
      return failure();
  return success();
}
