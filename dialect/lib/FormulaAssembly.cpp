// SPDX-License-Identifier: Apache-2.0
//===- FormulaAssembly.cpp - text of formulas -------------------------------===//

#include "skript/Skript.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace skript;

using Argument = OpAsmParser::Argument;

/// `(%i, %j) in (8, %n)`
static ParseResult parseDomain(OpAsmParser &parser, SmallVectorImpl<Argument> &indices,
                               SmallVectorImpl<OpAsmParser::UnresolvedOperand> &bounds, DenseI64ArrayAttr &constant) {
  SMLoc location = parser.getCurrentLocation();
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseArgumentList(indices, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("in"))
    return failure();
  SmallVector<int64_t> values;
  auto one = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (found.has_value()) {
      bounds.push_back(operand);
      values.push_back(ShapedType::kDynamic);
      return *found;
    }
    return parser.parseInteger(values.emplace_back());
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, one, " in the bounds of a formula"))
    return failure();
  if (values.size() != indices.size())
    return parser.emitError(location) << "formula has " << indices.size() << " index variables, but "
                                      << values.size() << " bounds";
  for (Argument &argument : indices)
    argument.type = index;
  constant = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

ParseResult FormulaOp::parse(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  StringRef keyword;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<FormulaKind> kind = symbolizeFormulaKind(keyword);
  if (!kind)
    return parser.emitError(location) << "'" << keyword
                                      << "' is no kind of formula: expected assign, sum, product, all, any, min, max "
                                         "or replace";
  properties.kind = FormulaKindAttr::get(parser.getContext(), *kind);

  SmallVector<Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> bounds, outs;
  SmallVector<Type> types;
  DenseI64ArrayAttr constant;
  if (parseDomain(parser, arguments, bounds, constant))
    return failure();
  properties.static_bounds = constant;

  auto destination = [&]() -> ParseResult {
    Argument argument;
    if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(outs.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    arguments.push_back(argument);
    return success();
  };
  if (parser.parseKeyword("outs"))
    return failure();
  SMLoc outsLocation = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, destination, " in the destinations of a formula") ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.resolveOperands(bounds, parser.getBuilder().getIndexType(), state.operands) ||
      parser.resolveOperands(outs, types, outsLocation, state.operands))
    return failure();
  properties.operandSegmentSizes = {static_cast<int32_t>(bounds.size()), static_cast<int32_t>(outs.size())};

  Region *predicate = state.addRegion(), *body = state.addRegion();
  if (succeeded(parser.parseOptionalKeyword("where")) && parser.parseRegion(*predicate, arguments))
    return failure();
  if (parser.parseKeyword("do") || parser.parseRegion(*body, arguments) || parser.parseColon())
    return failure();
  SmallVector<Type> results;
  SMLoc resultsLocation = parser.getCurrentLocation();
  if (parser.parseTypeList(results))
    return failure();
  if (results != types)
    return parser.emitError(resultsLocation, "results have the types of the destinations in 'outs', in order");
  state.addTypes(results);
  return success();
}

void FormulaOp::print(OpAsmPrinter &printer) {
  unsigned indices = getNumIndices();
  SmallVector<Value> arguments(getBody().args_begin(), getBody().args_end());
  printer << ' ' << stringifyFormulaKind(getKind()) << " (" << ValueRange(arguments).take_front(indices) << ") in (";
  unsigned next = 0;
  llvm::interleaveComma(getStaticBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << getBounds()[next++];
    else
      printer << bound;
  });
  printer << ") outs(";
  llvm::interleaveComma(llvm::zip_equal(ValueRange(arguments).drop_front(indices), getOuts()), printer, [&](auto pair) {
    auto [argument, out] = pair;
    printer << argument << " = " << out << " : " << out.getType();
  });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getKindAttrName(), getStaticBoundsAttrName(), getOperandSegmentSizesAttrName()});
  if (!getPredicate().empty()) {
    printer << " where ";
    printer.printRegion(getPredicate(), /*printEntryBlockArgs=*/false);
  }
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer << " : " << getResultTypes();
}

void FormulaOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  // Both regions have equal lists of arguments, so the printer assigns equal names: one header suffices for both.
  static constexpr StringLiteral names[] = {"i", "j", "k", "l", "m", "n", "o", "p"};
  unsigned indices = getNumIndices();
  for (auto [position, argument] : llvm::enumerate(region.getArguments())) {
    if (position >= indices)
      setName(argument, "acc");
    else if (position < std::size(names))
      setName(argument, names[position]);
    else
      setName(argument, ("i" + Twine(position)).str());
  }
}

ParseResult YieldOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> values, subscripts;
  SmallVector<int32_t> ranks;
  SMLoc location = parser.getCurrentLocation();
  auto target = [&]() -> ParseResult {
    size_t before = subscripts.size();
    if (parser.parseOperand(values.emplace_back()) || parser.parseKeyword("at") ||
        parser.parseOperandList(subscripts, OpAsmParser::Delimiter::Square))
      return failure();
    ranks.push_back(subscripts.size() - before);
    return success();
  };
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(target) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonTypeList(types) || parser.resolveOperands(values, types, location, state.operands) ||
      parser.resolveOperands(subscripts, parser.getBuilder().getIndexType(), state.operands))
    return failure();
  auto &properties = state.getOrAddProperties<Properties>();
  properties.ranks = parser.getBuilder().getDenseI32ArrayAttr(ranks);
  properties.operandSegmentSizes = {static_cast<int32_t>(values.size()), static_cast<int32_t>(subscripts.size())};
  return success();
}

void YieldOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  unsigned position = 0;
  llvm::interleaveComma(getValues(), printer, [&](Value value) {
    printer << value << " at [" << getSubscriptsOf(position++) << ']';
  });
  printer.printOptionalAttrDict((*this)->getAttrs(), {getRanksAttrName(), getOperandSegmentSizesAttrName()});
  printer << " : " << getValues().getTypes();
}
