// SPDX-License-Identifier: Apache-2.0
//===- Elementwise.cpp - types, shapes and assembly of elementwise ops ----===//

#include "skript/Skript.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace skript::detail {

Type shapedLike(TypeRange operands, Type element) {
  ShapedType first;
  SmallVector<int64_t> extents;
  for (Type type : operands) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped)
      continue;
    if (!shaped.hasRank())
      return Type();
    if (!first) {
      first = shaped;
      extents.assign(shaped.getShape().begin(), shaped.getShape().end());
      continue;
    }
    if (first.getTypeID() != shaped.getTypeID() || shaped.getRank() != first.getRank())
      return Type();
    for (auto [extent, other] : llvm::zip_equal(extents, shaped.getShape())) {
      if (ShapedType::isDynamic(extent))
        extent = other;
      else if (!ShapedType::isDynamic(other) && other != extent)
        return Type();
    }
  }
  if (!first)
    return element;
  if (auto vector = dyn_cast<VectorType>(first))
    return vector.cloneWith(extents, element);
  if (auto tensor = dyn_cast<RankedTensorType>(first))
    return RankedTensorType::get(extents, element, tensor.getEncoding());
  return Type();
}

LogicalResult inferElementwise(MLIRContext *context, std::optional<Location> location, TypeRange operands,
                               bool comparison, SmallVectorImpl<Type> &types) {
  if (operands.empty())
    return failure();
  Type element = getElementTypeOrSelf(operands.front());
  for (Type type : operands.drop_front())
    if (getElementTypeOrSelf(type) != element)
      return emitOptionalError(location, "operands must have one element type, but have ", operands);
  Type result = shapedLike(operands, comparison ? IntegerType::get(context, 1) : element);
  if (!result)
    return emitOptionalError(location, "operands that are not scalars must have one shape and be all tensors or all "
                                       "vectors, but have types ",
                             operands);
  types.push_back(result);
  return success();
}

bool compatibleElementwise(TypeRange inferred, TypeRange actual) {
  return inferred.size() == actual.size() && llvm::all_of(llvm::zip_equal(inferred, actual), [](auto pair) {
           auto [a, b] = pair;
           if (a == b)
             return true;
           return isa<RankedTensorType>(a) && isa<RankedTensorType>(b) &&
                  getElementTypeOrSelf(a) == getElementTypeOrSelf(b) && succeeded(verifyCompatibleShape(a, b));
         });
}

LogicalResult verifyElementwise(Operation *op) {
  Attribute encoding;
  bool found = false;
  auto check = [&](TypeRange types) {
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      if (found && tensor.getEncoding() != encoding)
        return false;
      encoding = tensor.getEncoding();
      found = true;
    }
    return true;
  };
  if (!check(op->getOperandTypes()) || !check(op->getResultTypes()))
    return op->emitOpError("tensor operands and results must have one encoding");
  return success();
}

LogicalResult reifyElementwise(OpBuilder &builder, Operation *op, ReifiedRankedShapedTypeDims &shapes) {
  Value source;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) {
      source = operand;
      break;
    }
  if (!source)
    return failure();
  shapes.assign(1, tensor::getMixedSizes(builder, op->getLoc(), source));
  // A static extent may be known only from another operand or from the result.
  auto refine = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (auto [extent, known] : llvm::zip(shapes.front(), tensor.getShape()))
        if (!ShapedType::isDynamic(known))
          extent = builder.getIndexAttr(known);
  };
  llvm::for_each(op->getOperandTypes(), refine);
  llvm::for_each(op->getResultTypes(), refine);
  return success();
}

ParseResult parseElementwise(OpAsmParser &parser, OperationState &state, unsigned operands, bool comparison) {
  SmallVector<OpAsmParser::UnresolvedOperand> names;
  SmallVector<Type> types;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOperandList(names, operands) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColon())
    return failure();
  SMLoc typesLocation = parser.getCurrentLocation();
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 1)
    types.resize(operands, types.front());
  if (types.size() != operands)
    return parser.emitError(typesLocation)
           << "expected one type, or one for each of the " << operands << " operands";
  if (parser.resolveOperands(names, types, location, state.operands))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    Type result;
    if (parser.parseType(result))
      return failure();
    state.addTypes(result);
    return success();
  }
  SmallVector<Type> inferred;
  if (failed(inferElementwise(parser.getContext(), parser.getEncodedSourceLoc(typesLocation), types, comparison,
                              inferred)))
    return failure();
  state.addTypes(inferred);
  return success();
}

void printElementwise(OpAsmPrinter &printer, Operation *op) {
  printer << ' ' << op->getOperands();
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : ";
  if (llvm::all_equal(op->getOperandTypes()))
    printer << op->getOperand(0).getType();
  else
    llvm::interleaveComma(op->getOperandTypes(), printer);
  SmallVector<Type> inferred;
  bool comparison = isa<LtOp, LeOp, GtOp, GeOp, EqOp, NeOp>(op);
  (void)inferElementwise(op->getContext(), std::nullopt, op->getOperandTypes(), comparison, inferred);
  if (TypeRange(inferred) != op->getResultTypes())
    printer << " -> " << op->getResultTypes();
}

} // namespace skript::detail

using namespace skript;

//===----------------------------------------------------------------------===//
// select
//===----------------------------------------------------------------------===//

/// Result type for the types of condition and values.
static LogicalResult inferSelect(std::optional<Location> location, TypeRange operands, SmallVectorImpl<Type> &types) {
  if (operands.size() != 3)
    return failure();
  Type element = getElementTypeOrSelf(operands[1]);
  if (getElementTypeOrSelf(operands[2]) != element)
    return emitOptionalError(location, "both values must have one element type, but have types ",
                             operands.drop_front());
  Type result = skript::detail::shapedLike(operands, element);
  if (!result)
    return emitOptionalError(location, "operands that are not scalars must have one shape and be all tensors or all "
                                       "vectors, but have types ",
                             operands);
  types.push_back(result);
  return success();
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr, OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &types) {
  return inferSelect(location, operands.getTypes(), types);
}

bool SelectOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  return skript::detail::compatibleElementwise(inferred, actual);
}

ParseResult SelectOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> names;
  SmallVector<Type> types;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOperandList(names, 3) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColon())
    return failure();
  SMLoc typesLocation = parser.getCurrentLocation();
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 1)
    types.insert(types.begin(), parser.getBuilder().getI1Type());
  if (types.size() == 2)
    types.push_back(types.back());
  if (types.size() != 3)
    return parser.emitError(typesLocation,
                            "expected the type of the values, the types of the condition and of the values, or one type per operand");
  if (parser.resolveOperands(names, types, location, state.operands))
    return failure();
  if (succeeded(parser.parseOptionalArrow())) {
    Type result;
    if (parser.parseType(result))
      return failure();
    state.addTypes(result);
    return success();
  }
  SmallVector<Type> inferred;
  if (failed(inferSelect(parser.getEncodedSourceLoc(typesLocation), types, inferred)))
    return failure();
  state.addTypes(inferred);
  return success();
}

void SelectOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  Type condition = getCondition().getType(), onTrue = getTrueValue().getType(), onFalse = getFalseValue().getType();
  if (onTrue != onFalse)
    printer << condition << ", " << onTrue << ", " << onFalse;
  else if (!condition.isInteger(1))
    printer << condition << ", " << onTrue;
  else
    printer << onTrue;
  SmallVector<Type> inferred;
  (void)inferSelect(std::nullopt, (*this)->getOperandTypes(), inferred);
  if (TypeRange(inferred) != (*this)->getResultTypes())
    printer << " -> " << getType();
}
