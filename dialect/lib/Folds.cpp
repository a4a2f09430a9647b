// SPDX-License-Identifier: Apache-2.0
//===- Folds.cpp - folders of elementwise operations ------------------------===//
//
// Only exact folds: for floats `x + -0`, `x - +0`, `x * 1`, `x / 1`; never `x + 0` or `x * 0`.
//
//===----------------------------------------------------------------------===//

#include "skript/ScalarFolding.h"
#include "skript/Skript.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace skript;
using skript::detail::foldElementwise;

/// `value` if it can replace the only result of `op`.
static OpFoldResult same(Operation *op, Value value) {
  return value.getType() == op->getResult(0).getType() ? OpFoldResult(value) : OpFoldResult();
}

static bool isReal(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// A constant of the result's type whose elements are all `value`; null if the shape is not static.
static OpFoldResult everywhere(Operation *op, int64_t value) {
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  Attribute scalar = IntegerAttr::get(element, element.isInteger(1) ? value & 1 : value);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return scalar;
  auto vector = dyn_cast<VectorType>(type);
  if (!shaped.hasStaticShape() || (vector && vector.isScalable()))
    return {};
  return DenseElementsAttr::get(shaped, scalar);
}

#define CONSTANTS_FIRST                                                                                                \
  if (Attribute folded = foldElementwise(*this, adaptor.getOperands()))                                                \
    return folded;

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (isReal(getLhs()) ? matchPattern(adaptor.getRhs(), m_NegZeroFloat()) : matchPattern(adaptor.getRhs(), m_Zero()))
    return same(*this, getLhs());
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (isReal(getLhs()) ? matchPattern(adaptor.getRhs(), m_PosZeroFloat()) : matchPattern(adaptor.getRhs(), m_Zero()))
    return same(*this, getLhs());
  if (!isReal(getLhs()) && getLhs() == getRhs())
    return everywhere(*this, 0);
  return {};
}

/// Whether a constant is one, in the element type of `value`.
static bool isOne(Value value, Attribute constant) {
  return isReal(value) ? matchPattern(constant, m_OneFloat()) : matchPattern(constant, m_One());
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (isOne(getLhs(), adaptor.getRhs()))
    return same(*this, getLhs());
  if (!isReal(getLhs()) && matchPattern(adaptor.getRhs(), m_Zero()))
    return everywhere(*this, 0);
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return isOne(getLhs(), adaptor.getRhs()) ? same(*this, getLhs()) : OpFoldResult();
}

OpFoldResult CeilDivOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return !isReal(getLhs()) && isOne(getLhs(), adaptor.getRhs()) ? same(*this, getLhs()) : OpFoldResult();
}

OpFoldResult ModOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return !isReal(getLhs()) && isOne(getLhs(), adaptor.getRhs()) ? everywhere(*this, 0) : OpFoldResult();
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return isOne(getLhs(), adaptor.getRhs()) ? same(*this, getLhs()) : OpFoldResult();
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return getLhs() == getRhs() ? same(*this, getLhs()) : OpFoldResult();
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return getLhs() == getRhs() ? same(*this, getLhs()) : OpFoldResult();
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return same(*this, inner.getOperand());
  return {};
}

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return getOperand().getDefiningOp<AbsOp>() ? same(*this, getOperand()) : OpFoldResult();
}

OpFoldResult SignOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  return getOperand().getDefiningOp<SignOp>() ? same(*this, getOperand()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Comparisons: an integer compared with itself
//===----------------------------------------------------------------------===//

template <typename Op>
static OpFoldResult foldComparison(Op op, typename Op::FoldAdaptor adaptor, bool reflexive) {
  if (Attribute folded = foldElementwise(op, adaptor.getOperands()))
    return folded;
  if (op.getLhs() == op.getRhs() && !isReal(op.getLhs()))
    return everywhere(op, reflexive);
  return {};
}

OpFoldResult LtOp::fold(FoldAdaptor adaptor) { return foldComparison(*this, adaptor, false); }
OpFoldResult LeOp::fold(FoldAdaptor adaptor) { return foldComparison(*this, adaptor, true); }
OpFoldResult GtOp::fold(FoldAdaptor adaptor) { return foldComparison(*this, adaptor, false); }
OpFoldResult GeOp::fold(FoldAdaptor adaptor) { return foldComparison(*this, adaptor, true); }
OpFoldResult EqOp::fold(FoldAdaptor adaptor) { return foldComparison(*this, adaptor, true); }
OpFoldResult NeOp::fold(FoldAdaptor adaptor) { return foldComparison(*this, adaptor, false); }

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (getLhs() == getRhs() || matchPattern(adaptor.getRhs(), m_One()))
    return same(*this, getLhs());
  if (matchPattern(adaptor.getRhs(), m_Zero()))
    return everywhere(*this, 0);
  return {};
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (getLhs() == getRhs() || matchPattern(adaptor.getRhs(), m_Zero()))
    return same(*this, getLhs());
  if (matchPattern(adaptor.getRhs(), m_One()))
    return everywhere(*this, 1);
  return {};
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (matchPattern(adaptor.getRhs(), m_Zero()))
    return same(*this, getLhs());
  if (getLhs() == getRhs())
    return everywhere(*this, 0);
  return {};
}

OpFoldResult ImpliesOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (matchPattern(adaptor.getLhs(), m_One()))
    return same(*this, getRhs());
  if (getLhs() == getRhs() || matchPattern(adaptor.getLhs(), m_Zero()) || matchPattern(adaptor.getRhs(), m_One()))
    return everywhere(*this, 1);
  return {};
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return same(*this, inner.getOperand());
  return {};
}

//===----------------------------------------------------------------------===//
// Real functions
//===----------------------------------------------------------------------===//

OpFoldResult SqrtOp::fold(FoldAdaptor adaptor) { return foldElementwise(*this, adaptor.getOperands()); }
OpFoldResult FracOp::fold(FoldAdaptor adaptor) { return foldElementwise(*this, adaptor.getOperands()); }

/// Rounding an integer is the identity.
template <typename Op>
static OpFoldResult foldRounding(Op op, typename Op::FoldAdaptor adaptor) {
  if (Attribute folded = foldElementwise(op, adaptor.getOperands()))
    return folded;
  if (isa_and_nonnull<RoundOp, FloorOp, CeilOp>(op.getOperand().getDefiningOp()))
    return same(op, op.getOperand());
  return {};
}

OpFoldResult RoundOp::fold(FoldAdaptor adaptor) { return foldRounding(*this, adaptor); }
OpFoldResult FloorOp::fold(FoldAdaptor adaptor) { return foldRounding(*this, adaptor); }
OpFoldResult CeilOp::fold(FoldAdaptor adaptor) { return foldRounding(*this, adaptor); }

//===----------------------------------------------------------------------===//
// Casts and selection
//===----------------------------------------------------------------------===//

/// Whether a cast from `from` to `to` and back preserves every value.
static bool isLossless(Type from, Type to) {
  auto width = [](Type type) { return type.isIndex() ? 64u : type.getIntOrFloatBitWidth(); };
  if (from == to)
    return true;
  if (auto narrow = dyn_cast<FloatType>(from)) {
    auto wide = dyn_cast<FloatType>(to);
    return wide && llvm::APFloat::isRepresentableBy(narrow.getFloatSemantics(), wide.getFloatSemantics());
  }
  return !isa<FloatType>(to) && !to.isInteger(1) && width(from) <= width(to);
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  CONSTANTS_FIRST
  if (auto inner = getOperand().getDefiningOp<CastOp>()) {
    Type first = getElementTypeOrSelf(inner.getOperand().getType());
    if (isLossless(first, getElementTypeOrSelf(getOperand().getType())))
      return same(*this, inner.getOperand());
  }
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  CONSTANTS_FIRST
  if (getTrueValue() == getFalseValue() || matchPattern(adaptor.getCondition(), m_One()))
    return same(*this, getTrueValue());
  if (matchPattern(adaptor.getCondition(), m_Zero()))
    return same(*this, getFalseValue());
  return {};
}
