// SPDX-License-Identifier: Apache-2.0
//===- ScalarFolding.cpp - elementwise operations on constants --------------===//

#include "skript/ScalarFolding.h"
#include "skript/Skript.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace skript::detail {

/// Maximum number of elements of folded constants other than splats.
static constexpr int64_t kMostElements = 4096;

static constexpr APFloat::roundingMode kNearest = APFloat::rmNearestTiesToEven;

static APInt quotient(const APInt &a, const APInt &b, bool up) {
  if (b.isZero())
    return APInt::getZero(a.getBitWidth());
  APInt q = a.sdiv(b), r = a.srem(b);
  bool negative = a.isNegative() != b.isNegative();
  if (!r.isZero() && negative != up)
    return up ? q + 1 : q - 1;
  return q;
}

static APInt modulo(const APInt &a, const APInt &b) {
  if (b.isZero())
    return APInt::getZero(a.getBitWidth());
  APInt r = a.srem(b);
  return !r.isZero() && r.isNegative() != b.isNegative() ? r + b : r;
}

static APInt power(APInt base, APInt exponent) {
  unsigned width = base.getBitWidth();
  if (exponent.isNegative()) {
    if (base.isOne() || (base.isAllOnes() && !exponent[0]))
      return APInt(width, 1);
    return base.isAllOnes() ? base : APInt::getZero(width);
  }
  APInt result(width, 1);
  for (; !exponent.isZero(); exponent.lshrInPlace(1)) {
    if (exponent[0])
      result *= base;
    base *= base;
  }
  return result;
}

static std::optional<APInt> foldInteger(Operation *op, const APInt &a, const APInt &b) {
  unsigned width = a.getBitWidth();
  auto truth = [](bool value) { return APInt(1, value); };
  return TypeSwitch<Operation *, std::optional<APInt>>(op)
      .Case([&](AddOp) { return a + b; })
      .Case([&](SubOp) { return a - b; })
      .Case([&](MulOp) { return a * b; })
      .Case([&](DivOp) { return quotient(a, b, /*up=*/false); })
      .Case([&](CeilDivOp) { return quotient(a, b, /*up=*/true); })
      .Case([&](ModOp) { return modulo(a, b); })
      .Case([&](PowOp) { return power(a, b); })
      .Case([&](MinOp) { return a.slt(b) ? a : b; })
      .Case([&](MaxOp) { return a.sgt(b) ? a : b; })
      .Case([&](NegOp) { return -a; })
      .Case([&](AbsOp) { return a.abs(); })
      .Case([&](SignOp) { return APInt(width, a.isZero() ? 0 : a.isNegative() ? -1 : 1, /*isSigned=*/true); })
      // i1 compares as unsigned: false < true.
      .Case([&](LtOp) { return truth(width == 1 ? a.ult(b) : a.slt(b)); })
      .Case([&](LeOp) { return truth(width == 1 ? a.ule(b) : a.sle(b)); })
      .Case([&](GtOp) { return truth(width == 1 ? a.ugt(b) : a.sgt(b)); })
      .Case([&](GeOp) { return truth(width == 1 ? a.uge(b) : a.sge(b)); })
      .Case([&](EqOp) { return truth(a == b); })
      .Case([&](NeOp) { return truth(a != b); })
      .Case([&](AndOp) { return a & b; })
      .Case([&](OrOp) { return a | b; })
      .Case([&](XorOp) { return a ^ b; })
      .Case([&](ImpliesOp) { return ~a | b; })
      .Case([&](NotOp) { return ~a; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<bool> compareFloats(Operation *op, const APFloat &a, const APFloat &b) {
  APFloat::cmpResult order = a.compare(b);
  return TypeSwitch<Operation *, std::optional<bool>>(op)
      .Case([&](LtOp) { return order == APFloat::cmpLessThan; })
      .Case([&](LeOp) { return order == APFloat::cmpLessThan || order == APFloat::cmpEqual; })
      .Case([&](GtOp) { return order == APFloat::cmpGreaterThan; })
      .Case([&](GeOp) { return order == APFloat::cmpGreaterThan || order == APFloat::cmpEqual; })
      .Case([&](EqOp) { return order == APFloat::cmpEqual; })
      .Case([&](NeOp) { return order != APFloat::cmpEqual; })
      .Default([](Operation *) { return std::nullopt; });
}

static APFloat rounded(APFloat value, APFloat::roundingMode mode) {
  value.roundToIntegral(mode);
  return value;
}

static APFloat divided(APFloat a, const APFloat &b) {
  a.divide(b, kNearest);
  return a;
}

/// The exact remainder with the sign of the divisor, rounded once; a zero remainder is +0.
static APFloat modulo(const APFloat &a, const APFloat &b) {
  const APFloat zero = APFloat::getZero(a.getSemantics());
  APFloat rest = a;
  rest.mod(b);
  const bool differ = !rest.isZero() && rest.isNegative() != b.isNegative();
  return rest + (differ ? b : zero);
}

/// Correctly rounded for types whose precision is far enough below 53 bits that double rounding is harmless.
static std::optional<APFloat> squareRoot(const APFloat &a) {
  const llvm::fltSemantics &semantics = a.getSemantics();
  if (&semantics != &APFloat::IEEEdouble() && APFloat::semanticsPrecision(semantics) > 24)
    return std::nullopt;
  APFloat wide = a;
  bool inexact;
  wide.convert(APFloat::IEEEdouble(), kNearest, &inexact);
  APFloat root(std::sqrt(wide.convertToDouble()));
  root.convert(semantics, kNearest, &inexact);
  return root;
}

static std::optional<APFloat> foldFloat(Operation *op, const APFloat &a, const APFloat &b) {
  return TypeSwitch<Operation *, std::optional<APFloat>>(op)
      .Case([&](AddOp) { return a + b; })
      .Case([&](SubOp) { return a - b; })
      .Case([&](MulOp) { return a * b; })
      .Case([&](DivOp) { return divided(a, b); })
      .Case([&](CeilDivOp) { return rounded(divided(a, b), APFloat::rmTowardPositive); })
      .Case([&](ModOp) { return modulo(a, b); })
      .Case([&](MinOp) { return llvm::minimum(a, b); })
      .Case([&](MaxOp) { return llvm::maximum(a, b); })
      .Case([&](NegOp) { return llvm::neg(a); })
      .Case([&](AbsOp) { return llvm::abs(a); })
      .Case([&](SignOp) {
        return a.isNaN() || a.isZero() ? a : APFloat::getOne(a.getSemantics(), a.isNegative());
      })
      .Case([&](SqrtOp) { return squareRoot(a); })
      .Case([&](RoundOp) { return rounded(a, APFloat::rmNearestTiesToAway); })
      .Case([&](FloorOp) { return rounded(a, APFloat::rmTowardNegative); })
      .Case([&](CeilOp) { return rounded(a, APFloat::rmTowardPositive); })
      // Infinity minus infinity is NaN, as at run time.
      .Case([&](FracOp) { return a - rounded(a, APFloat::rmTowardZero); })
      .Default([](Operation *) { return std::nullopt; });
}

static Attribute foldCast(Attribute operand, Type result) {
  bool inexact;
  if (auto from = dyn_cast<FloatAttr>(operand)) {
    const APFloat &value = from.getValue();
    if (result.isInteger(1))
      return IntegerAttr::get(result, !value.isZero());
    if (auto to = dyn_cast<FloatType>(result)) {
      APFloat converted = value;
      converted.convert(to.getFloatSemantics(), kNearest, &inexact);
      return FloatAttr::get(to, converted);
    }
    unsigned width = result.isIndex() ? 64 : result.getIntOrFloatBitWidth();
    APSInt converted(width, /*isUnsigned=*/false);
    value.convertToInteger(converted, APFloat::rmTowardZero, &inexact);
    return IntegerAttr::get(result, value.isNaN() ? APInt::getZero(width) : APInt(converted));
  }
  auto from = dyn_cast<IntegerAttr>(operand);
  if (!from)
    return {};
  const APInt &value = from.getValue();
  bool logical = from.getType().isInteger(1);
  if (result.isInteger(1))
    return IntegerAttr::get(result, !value.isZero());
  if (auto to = dyn_cast<FloatType>(result)) {
    APFloat converted(to.getFloatSemantics());
    converted.convertFromAPInt(value, /*IsSigned=*/!logical, kNearest);
    return FloatAttr::get(to, converted);
  }
  unsigned width = result.isIndex() ? 64 : result.getIntOrFloatBitWidth();
  if (logical)
    return IntegerAttr::get(result, value.zext(width));
  return IntegerAttr::get(result, width < value.getBitWidth() ? value.truncSSat(width) : value.sext(width));
}

Attribute foldScalar(Operation *op, ArrayRef<Attribute> operands, Type result) {
  if (isa<CastOp>(op))
    return foldCast(operands.front(), result);
  if (isa<SelectOp>(op)) {
    auto condition = dyn_cast<IntegerAttr>(operands[0]);
    return condition ? operands[condition.getValue().isZero() ? 2 : 1] : Attribute();
  }
  if (auto a = dyn_cast<IntegerAttr>(operands.front())) {
    auto b = dyn_cast<IntegerAttr>(operands.back());
    if (!b || a.getValue().getBitWidth() != b.getValue().getBitWidth())
      return {};
    std::optional<APInt> value = foldInteger(op, a.getValue(), b.getValue());
    return value ? IntegerAttr::get(result, *value) : Attribute();
  }
  auto a = dyn_cast<FloatAttr>(operands.front()), b = dyn_cast<FloatAttr>(operands.back());
  if (!a || !b || &a.getValue().getSemantics() != &b.getValue().getSemantics())
    return {};
  if (std::optional<bool> truth = compareFloats(op, a.getValue(), b.getValue()))
    return IntegerAttr::get(result, *truth);
  std::optional<APFloat> value = foldFloat(op, a.getValue(), b.getValue());
  return value ? FloatAttr::get(result, *value) : Attribute();
}

Attribute foldElementwise(Operation *op, ArrayRef<Attribute> operands) {
  if (operands.empty() || llvm::is_contained(operands, Attribute()))
    return {};
  Type result = op->getResult(0).getType(), element = getElementTypeOrSelf(result);
  auto shaped = dyn_cast<ShapedType>(result);
  if (!shaped)
    return foldScalar(op, operands, result);
  if (!shaped.hasStaticShape() || (isa<VectorType>(result) && cast<VectorType>(result).isScalable()))
    return {};
  bool splat = true;
  for (Attribute operand : operands) {
    if (isa<IntegerAttr, FloatAttr>(operand))
      continue;
    auto elements = dyn_cast<DenseElementsAttr>(operand);
    if (!elements || elements.getNumElements() != shaped.getNumElements())
      return {};
    splat &= elements.isSplat();
  }
  int64_t count = splat ? 1 : shaped.getNumElements();
  if (count > kMostElements)
    return {};
  SmallVector<Attribute> values, scalars(operands.size());
  for (int64_t position = 0; position < count; ++position) {
    for (auto [scalar, operand] : llvm::zip_equal(scalars, operands)) {
      auto elements = dyn_cast<DenseElementsAttr>(operand);
      scalar = !elements             ? operand
               : elements.isSplat() ? elements.getSplatValue<Attribute>()
                                    : elements.getValues<Attribute>()[position];
    }
    values.push_back(foldScalar(op, scalars, element));
    if (!values.back())
      return {};
  }
  return DenseElementsAttr::get(shaped, values);
}

} // namespace skript::detail
