//===- Invoke.cpp - invocations of operator instances ----------------------===//

#include "skript/Skript.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace skript;

CallInterfaceCallable InvokeOp::getCallableForCallee() { return getCalleeAttr(); }

void InvokeOp::setCalleeFromCallable(CallInterfaceCallable callee) {
  setCalleeAttr(cast<FlatSymbolRefAttr>(cast<SymbolRefAttr>(callee)));
}

Operation::operand_range InvokeOp::getArgOperands() { return getArguments(); }

MutableOperandRange InvokeOp::getArgOperandsMutable() { return getArgumentsMutable(); }

LogicalResult InvokeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  if (!symbol)
    return emitOpError() << "calls '" << getCallee() << "', which is not defined here";
  auto function = dyn_cast<FunctionOpInterface>(symbol);
  auto type = function ? dyn_cast<FunctionType>(function.getFunctionType()) : FunctionType();
  if (!type)
    return emitOpError() << "calls '" << getCallee() << "', which is a '" << symbol->getName()
                         << "' and not a function";
  auto differ = [&](StringRef what, TypeRange here, TypeRange there) -> LogicalResult {
    if (here.size() != there.size()) {
      auto error = emitOpError() << "has " << here.size() << " " << what << "s, but '" << getCallee() << "' has "
                                 << there.size();
      error.attachNote(symbol->getLoc()) << "defined here";
      return error;
    }
    for (auto [position, a, b] : llvm::enumerate(here, there))
      if (a != b) {
        auto error = emitOpError() << what << " " << position << " has type " << a << ", but '" << getCallee()
                                   << "' has " << b << " there";
        error.attachNote(symbol->getLoc()) << "defined here";
        return error;
      }
    return success();
  };
  if (failed(differ("operand", getArguments().getTypes(), type.getInputs())))
    return failure();
  return differ("result", getResultTypes(), type.getResults());
}

ParseResult InvokeOp::parse(OpAsmParser &parser, OperationState &state) {
  FlatSymbolRefAttr callee;
  SmallVector<OpAsmParser::UnresolvedOperand> names;
  std::string operatorName;
  Builder &builder = parser.getBuilder();
  if (parser.parseAttribute(callee, builder.getNoneType()))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOperandList(names, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("operator") ||
      parser.parseString(&operatorName))
    return failure();
  NamedAttrList values;
  if (parser.parseOptionalAttrDict(values) || parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  FunctionType type;
  if (parser.parseColonType(type) ||
      parser.resolveOperands(names, type.getInputs(), location, state.operands))
    return failure();
  auto &properties = state.getOrAddProperties<InvokeOp::Properties>();
  properties.callee = callee;
  properties.operator_name = builder.getStringAttr(operatorName);
  properties.operator_attributes = values.getDictionary(parser.getContext());
  state.addTypes(type.getResults());
  return success();
}

void InvokeOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printAttributeWithoutType(getCalleeAttr());
  printer << '(' << getArguments() << ") operator " << getOperatorNameAttr();
  printer.printOptionalAttrDict(getOperatorAttributes().getValue());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getCalleeAttrName(), getOperatorNameAttrName(), getOperatorAttributesAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
}
