// SPDX-License-Identifier: Apache-2.0
//===- Regions.cpp - custom assembly of constant, reduce and while ----------===//

#include "Literals.h"
#include "skript-stablehlo/Stablehlo.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace skript_stablehlo;

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

/// Checks the text of the elements, because MLIR also accepts elements that the type cannot represent.
static ParseResult verifyRange(OpAsmParser &parser) {
  std::optional<StrayElement> stray = strayElement(parser.getCurrentLocation().getPointer());
  if (!stray)
    return success();
  return parser.emitError(SMLoc::getFromPointer(stray->at)) << stray->message;
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) || verifyRange(parser) ||
      parser.parseAttribute(value, "value", state.attributes))
    return failure();
  state.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// The operation that combines both arguments, if the body consists only of this operation.
static Operation *soleCombiner(ReduceOp op) {
  Block &body = op.getBody().front();
  if (op.getInputs().size() != 1 || body.getNumArguments() != 2 || body.getOperations().size() != 2)
    return nullptr;
  Operation &inner = body.front(), &end = body.back();
  bool combines = inner.getNumOperands() == 2 && inner.getNumResults() == 1 && inner.getNumRegions() == 0 &&
                  inner.getOperand(0) == body.getArgument(0) && inner.getOperand(1) == body.getArgument(1) &&
                  inner.getAttrs().empty() && inner.hasTrait<OpTrait::IsCommutative>() &&
                  llvm::all_equal(inner.getOperandTypes()) && inner.getResultTypes()[0] == inner.getOperandTypes()[0];
  bool ends = isa<ReturnOp>(end) && end.getNumOperands() == 1 && combines && end.getOperand(0) == inner.getResult(0);
  return ends ? &inner : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  size_t count = getInputs().size();
  printer << '(';
  llvm::interleave(
      llvm::zip(getInputs(), getInitValues()), [&](auto pair) {
        printer << std::get<0>(pair) << " init: " << std::get<1>(pair);
      },
      [&] { printer << "), ("; });
  printer << ')';
  Operation *combiner = soleCombiner(*this);
  if (combiner)
    printer << " applies " << combiner->getName();
  printer << " across dimensions = [";
  llvm::interleaveComma(getDimensions(), printer);
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (combiner)
    return;
  printer.printNewline();
  printer << " reducer";
  Block &body = getBody().front();
  for (size_t i = 0; i < count && i + count < body.getNumArguments(); ++i) {
    printer << '(';
    printer.printRegionArgument(body.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(body.getArgument(i + count));
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands, inits;
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) || parser.parseKeyword("init") ||
        parser.parseColon() || parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  size_t count = operands.size();
  llvm::append_range(operands, inits);

  std::optional<OperationName> combiner;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    combiner = *name;
    // The operands and the result have the same type, and the operation is commutative: other bodies have a region.
    if (name->getDialectNamespace() != "stablehlo" || !name->hasTrait<OpTrait::IsCommutative>())
      return parser.emitError(parser.getCurrentLocation())
             << "`applies` takes a commutative operation of two operands such as stablehlo.add, not " << *name;
  }
  SmallVector<int64_t> dimensions;
  FunctionType type;
  SMLoc loc;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(dimensions.emplace_back()); }) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&loc) || parser.parseType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  state.addTypes(type.getResults());
  state.addAttribute("dimensions", parser.getBuilder().getDenseI64ArrayAttr(dimensions));

  Region *body = state.addRegion();
  if (combiner) {
    auto init = dyn_cast<RankedTensorType>(type.getInputs().back());
    if (count != 1 || !init)
      return parser.emitError(loc) << "`applies` combines one input with a scalar tensor";
    Block &block = body->emplaceBlock();
    Location location = parser.getEncodedSourceLoc(loc);
    block.addArguments({init, init}, {location, location});
    // A block without a parent operation has no context.
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToStart(&block);
    OperationState inner(location, *combiner);
    inner.addOperands(block.getArguments());
    inner.addTypes(init);
    Operation *created = builder.create(inner);
    ReturnOp::create(builder, location, created->getResults());
    return success();
  }
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> left, right;
  for (size_t i = 0; i < count; ++i)
    if (parser.parseLParen() || parser.parseArgument(left.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(right.emplace_back(), /*allowType=*/true) || parser.parseRParen())
      return failure();
  llvm::append_range(left, right);
  return parser.parseRegion(*body, left);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

void WhileOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, argumentName());
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperands()), printer,
                        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
  printer << ')';
  if (getNumOperands() > 0) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual())
          return failure();
        return parser.parseOperand(operands.emplace_back());
      }))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.resolveOperands(operands, types, loc, state.operands))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  state.addTypes(types);
  Region *cond = state.addRegion(), *body = state.addRegion();
  if (parser.parseKeyword("cond") || parser.parseRegion(*cond, arguments) || parser.parseKeyword("do"))
    return failure();
  return parser.parseRegion(*body, arguments);
}
