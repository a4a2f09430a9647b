// SPDX-License-Identifier: Apache-2.0
//===- Formula.cpp - verifier and shapes of formulas ------------------------===//

#include "skript/Skript.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace skript;

SmallVector<OpFoldResult> FormulaOp::getMixedBounds() {
  Builder builder(getContext());
  return mlir::getMixedValues(getStaticBounds(), getBounds(), builder);
}

LogicalResult FormulaOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &types) {
  Adaptor formula(operands, attributes, properties, regions);
  llvm::append_range(types, formula.getOuts().getTypes());
  return success();
}

LogicalResult FormulaOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  for (Value out : getOuts())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), out));
  return success();
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Whether the predicate is always false, and no step of it has side effects.
static bool isNever(Region &predicate) {
  if (predicate.empty())
    return false;
  auto condition = dyn_cast<ConditionOp>(predicate.front().getTerminator());
  return condition && matchPattern(condition.getCondition(), m_Zero()) &&
         llvm::all_of(predicate.front(), [](Operation &step) { return isMemoryEffectFree(&step); });
}

LogicalResult FormulaOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult> &results) {
  bool empty = isNever(getPredicate()), known = false;
  SmallVector<int64_t> bounds;
  SmallVector<Value> dynamic;
  unsigned next = 0;
  for (int64_t bound : getStaticBounds()) {
    if (ShapedType::isDynamic(bound)) {
      unsigned position = next++;
      if (auto number = dyn_cast_or_null<IntegerAttr>(adaptor.getBounds()[position])) {
        bound = std::max<int64_t>(number.getInt(), 0);
        known = true;
      } else {
        dynamic.push_back(getBounds()[position]);
      }
    }
    empty |= bound == 0;
    bounds.push_back(bound);
  }
  if (empty) {
    llvm::append_range(results, getOuts());
    return success();
  }
  if (!known)
    return failure();
  setStaticBounds(bounds);
  getBoundsMutable().assign(dynamic);
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Destinations that are the same tensor refer to the first of them, and have its operand.
static LogicalResult verifySameTensor(FormulaOp op) {
  Attribute attribute = op->getAttr(FormulaOp::getSameTensorAttrName());
  if (!attribute)
    return success();
  auto first = dyn_cast<DenseI32ArrayAttr>(attribute);
  if (!first || first.size() != static_cast<int64_t>(op.getOuts().size()))
    return op.emitOpError() << "has '" << FormulaOp::getSameTensorAttrName() << "' = " << attribute
                            << ", which is not an array of i32 with an entry for each of its " << op.getOuts().size()
                            << " destinations";
  for (auto [position, same] : llvm::enumerate(first.asArrayRef())) {
    if (same < 0 || same > static_cast<int64_t>(position) || first[same] != same)
      return op.emitOpError() << "says that destination " << position << " is the same tensor as " << same
                              << ", which is not the first destination of a tensor";
    if (op.getOuts()[same] != op.getOuts()[position])
      return op.emitOpError() << "says that destination " << position << " is the same tensor as " << same
                              << ", but their operands differ";
  }
  return success();
}

LogicalResult FormulaOp::verify() {
  if (getOuts().empty())
    return emitOpError("has no destination: `outs` needs at least one tensor");
  int64_t dynamic = llvm::count_if(getStaticBounds(), ShapedType::isDynamic);
  if (dynamic != static_cast<int64_t>(getBounds().size()))
    return emitOpError() << "has " << dynamic << " dynamic bounds, but " << getBounds().size() << " operands for them";
  for (auto [position, bound] : llvm::enumerate(getStaticBounds()))
    if (!ShapedType::isDynamic(bound) && bound < 0)
      return emitOpError() << "bound " << position << " is " << bound << ": bounds are not negative";
  for (auto [position, out] : llvm::enumerate(getOuts())) {
    Type element = getElementTypeOrSelf(out.getType());
    bool logical = element.isInteger(1);
    bool fits = true;
    switch (getKind()) {
    case FormulaKind::Sum:
    case FormulaKind::Product:
    case FormulaKind::Min:
    case FormulaKind::Max:
      fits = !logical;
      break;
    case FormulaKind::All:
    case FormulaKind::Any:
      fits = logical;
      break;
    case FormulaKind::Assign:
    case FormulaKind::Replace:
      break;
    }
    if (!fits)
      return emitOpError() << "of kind '" << stringifyFormulaKind(getKind()) << "' does not combine elements of type "
                           << element << " (destination " << position << ")";
  }
  return verifySameTensor(*this);
}

/// Block arguments are the index variables, then the destinations.
static LogicalResult verifyArguments(FormulaOp op, Region &region, StringRef name) {
  if (!region.hasOneBlock())
    return op.emitOpError() << "'" << name << "' region has " << region.getBlocks().size() << " blocks instead of one";
  unsigned indices = op.getNumIndices(), expected = indices + op.getOuts().size();
  if (region.getNumArguments() != expected)
    return op.emitOpError() << "'" << name << "' region has " << region.getNumArguments() << " arguments instead of "
                            << expected << ": " << indices << " index variables and " << op.getOuts().size()
                            << " destinations";
  for (auto [position, argument] : llvm::enumerate(region.getArguments())) {
    Type type = position < indices ? IndexType::get(op.getContext()) : op.getOuts()[position - indices].getType();
    if (argument.getType() != type)
      return op.emitOpError() << "'" << name << "' region's argument " << position << " has type "
                              << argument.getType() << " instead of " << type;
  }
  return success();
}

/// A step reads elements of tensors; it neither creates tensors nor uses entire ones.
static LogicalResult verifyElements(Region &region) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  WalkResult result = region.walk<WalkOrder::PreOrder>([&](Operation *inner) -> WalkResult {
    if (isa<AccessOp>(inner))
      return WalkResult::advance();
    if (isa<FormulaOp>(inner))
      return inner->emitOpError("is inside of a formula: formulas do not nest");
    if (llvm::any_of(inner->getOperandTypes(), isTensor) || llvm::any_of(inner->getResultTypes(), isTensor))
      return inner->emitOpError("has tensors, but is inside of a formula: only 'skript.access' reads tensors there");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult FormulaOp::verifyRegions() {
  if (!getPredicate().empty()) {
    if (failed(verifyArguments(*this, getPredicate(), "where")))
      return failure();
    Block &block = getPredicate().front();
    if (block.empty() || !isa<ConditionOp>(block.back()))
      return emitOpError("'where' region must end with 'skript.condition'");
    if (failed(verifyElements(getPredicate())))
      return failure();
  }
  if (failed(verifyArguments(*this, getBody(), "do")))
    return failure();
  Block &block = getBody().front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError("'do' region must end with 'skript.yield'");
  if (yield.getValues().size() != getOuts().size())
    return yield.emitOpError() << "yields " << yield.getValues().size() << " values, but the formula has "
                               << getOuts().size() << " destinations";
  for (auto [position, value, rank, out] : llvm::enumerate(yield.getValues(), yield.getRanks(), getOuts())) {
    auto type = cast<RankedTensorType>(out.getType());
    if (rank != type.getRank())
      return yield.emitOpError() << "has " << rank << " subscripts for destination " << position
                                 << ", which has rank " << type.getRank();
    if (value.getType() != type.getElementType())
      return yield.emitOpError() << "yields a value of type " << value.getType() << " for destination " << position
                                 << ", whose elements have type " << type.getElementType();
  }
  return verifyElements(getBody());
}

//===----------------------------------------------------------------------===//
// access, yield
//===----------------------------------------------------------------------===//

LogicalResult AccessOp::verify() {
  RankedTensorType type = getTensor().getType();
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices, but the tensor has rank " << type.getRank();
  return success();
}

Speculation::Speculatability AccessOp::getSpeculatability() {
  // Only where a guard is impossible: constant indices within constant extents.
  for (auto [index, extent] : llvm::zip_equal(getIndices(), getTensor().getType().getShape())) {
    APInt value;
    if (ShapedType::isDynamic(extent) || !matchPattern(index, m_ConstantInt(&value)) || value.isNegative() ||
        value.getSExtValue() >= extent)
      return Speculation::NotSpeculatable;
  }
  return Speculation::Speculatable;
}

OperandRange YieldOp::getSubscriptsOf(unsigned destination) {
  unsigned start = 0;
  for (int32_t rank : getRanks().take_front(destination))
    start += rank;
  return getSubscripts().slice(start, getRanks()[destination]);
}

LogicalResult YieldOp::verify() {
  if (getRanks().size() != getValues().size())
    return emitOpError() << "has " << getValues().size() << " values, but 'ranks' has " << getRanks().size()
                         << " entries";
  int64_t total = 0;
  for (int32_t rank : getRanks()) {
    if (rank < 0)
      return emitOpError() << "has a negative entry in 'ranks': " << rank;
    total += rank;
  }
  if (total != static_cast<int64_t>(getSubscripts().size()))
    return emitOpError() << "has " << getSubscripts().size() << " subscripts, but 'ranks' counts " << total;
  return success();
}
