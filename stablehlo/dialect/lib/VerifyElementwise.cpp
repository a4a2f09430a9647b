// SPDX-License-Identifier: Apache-2.0
//===- VerifyElementwise.cpp - elementwise operations and constants ---------===//

#include "Constraints.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace skript_stablehlo;
using namespace skript_stablehlo::constraints;

static SmallVector<Type> allTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

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

LogicalResult constraints::verifyPair(Operation *op) {
  Type lhs = op->getOperand(0).getType(), rhs = op->getOperand(1).getType(), result = op->getResult(0).getType();
  if (failed(sameElements(op, 1, lhs, rhs)))
    return failure();
  if (!oneShape(lhs, rhs))
    return violates(op, 1) << "operands must have one shape, but are " << lhs << " and " << rhs;
  if (!oneShape(lhs, result))
    return violates(op, 2) << "operands and result must have one shape, but are " << lhs << " and " << result;
  auto complex = dyn_cast<ComplexType>(getElementTypeOrSelf(result));
  if (complex && complex.getElementType() == getElementTypeOrSelf(lhs))
    return success();
  return violates(op, 3) << "the result's elements must be complex of " << getElementTypeOrSelf(lhs) << ", but it is "
                         << result;
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

/// `compare_c3`: the comparison type matches the element type.
static LogicalResult verifyKind(Operation *op, std::optional<ComparisonType> kind, Type element) {
  if (!kind || *kind == ComparisonType::NOTYPE)
    return success();
  bool isReal = isa<FloatType>(element), isBits = element.isInteger(1) || element.isUnsignedInteger();
  ComparisonType wanted = isReal || isa<ComplexType>(element) ? ComparisonType::FLOAT
                          : isBits                                ? ComparisonType::UNSIGNED
                                                                  : ComparisonType::SIGNED;
  if (*kind == wanted || (isReal && *kind == ComparisonType::TOTALORDER))
    return success();
  return violates(op, 3) << "elements of " << element << " compare " << stringifyComparisonType(wanted)
                         << (isReal ? " or TOTALORDER" : "") << ", not " << stringifyComparisonType(*kind);
}

LogicalResult constraints::verifyComparison(Operation *op) {
  Type lhs = op->getOperand(0).getType(), rhs = op->getOperand(1).getType();
  if (failed(sameElements(op, 1, lhs, rhs)))
    return failure();
  if (!oneShape(lhs, rhs) || !oneShape(lhs, op->getResult(0).getType()))
    return violates(op, 2) << "operands and result must have one shape, but are " << lhs << ", " << rhs << " and "
                           << op->getResult(0).getType();
  return verifyKind(op, cast<CompareOp>(op).getCompareType(), getElementTypeOrSelf(lhs));
}

/// `real_c2`, `imag_c2`: the result has the part type of complex elements, or the type of real elements.
static LogicalResult isPart(Operation *op) {
  Type operand = op->getOperand(0).getType(), result = op->getResult(0).getType();
  Type part = getElementTypeOrSelf(operand);
  if (auto complex = dyn_cast<ComplexType>(part))
    part = complex.getElementType();
  if (getElementTypeOrSelf(result) == part)
    return success();
  return violates(op, 2) << "for " << operand << " the result's element type must be " << part << ", but it is "
                         << result;
}

LogicalResult RealOp::verify() { return isPart(*this); }
LogicalResult ImagOp::verify() { return isPart(*this); }

LogicalResult SelectOp::verify() {
  Type values = getOnTrue().getType();
  for (Type type : {getOnFalse().getType(), getResult().getType()})
    if (getElementTypeOrSelf(type) != getElementTypeOrSelf(values) || !oneShape(type, values))
      return violates(*this, 2) << "both values and the result must have one type, but there are " << values << " and "
                                << type;
  auto condition = dyn_cast<RankedTensorType>(getPred().getType());
  if (condition && condition.getRank() != 0 && !oneShape(condition, values))
    return violates(*this, 1) << "the condition must be a scalar or have the shape of the values, but is " << condition
                              << " for " << values;
  return success();
}

LogicalResult ClampOp::verify() {
  RankedTensorType operand = getOperand().getType(), min = getMin().getType(), max = getMax().getType();
  for (auto [constraint, bound] : {std::pair(1, min), std::pair(2, max)})
    if (bound.getRank() != 0 && !oneShape(bound, operand))
      return violates(*this, constraint) << "a bound must be a scalar or have the shape of " << operand << ", but is "
                                         << bound;
  if (failed(sameElements(*this, 3, min, operand)) || failed(sameElements(*this, 3, max, operand)) ||
      failed(sameElements(*this, 4, operand, getType())))
    return failure();
  return hasShape(*this, 4, getType(), operand.getShape());
}

LogicalResult ReducePrecisionOp::verify() {
  if (int32_t(getExponentBits()) < 1)
    return violates(*this, 2) << "there must be a bit of exponent at least";
  if (int32_t(getMantissaBits()) < 0)
    return violates(*this, 3) << "the number of bits of the mantissa is negative";
  return success();
}

/// Size of the elements in bytes; each element is padded to bytes. Empty on overflow.
static std::optional<int64_t> sizeOf(ShapedType type) {
  std::optional<int64_t> size = llvm::divideCeil(bitsOf(type.getElementType()), 8);
  for (int64_t extent : type.getShape())
    size = size ? llvm::checkedMul(*size, extent) : size;
  return size;
}

/// Checks that the file's resources contain the elements of a constant, and that their number matches its type.
static LogicalResult verifyResource(Operation *op, DenseResourceElementsAttr value) {
  StringRef name = value.getRawHandle().getKey();
  const AsmResourceBlob *blob = value.getRawHandle().getBlob();
  if (!blob)
    return violates(op, 1) << "the elements of " << value.getType() << " are `" << name
                           << "` of the file's resources, which do not have it: add it to `{-# dialect_resources: "
                              "{builtin: {…}} #-}`, or write the elements as `dense<…>`";
  std::optional<int64_t> wanted = sizeOf(value.getType());
  if (wanted && blob->getData().size() == uint64_t(*wanted))
    return success();
  return violates(op, 1) << value.getType() << " has " << value.getNumElements() << " elements, in "
                         << wanted.value_or(0) << " bytes, but `" << name << "` of the file's resources has "
                         << blob->getData().size()
                         << " bytes (after the first four, which are the alignment)";
}

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != getOutput().getType())
    return violates(*this, 1) << "value and result must have one type, but are " << getValue().getType() << " and "
                              << getOutput().getType();
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValue());
  return resource ? verifyResource(*this, resource) : success();
}
