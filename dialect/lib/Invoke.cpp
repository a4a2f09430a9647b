// SPDX-License-Identifier: Apache-2.0
//===- Invoke.cpp - invocations of operator instances ----------------------===//

#include "skript/Skript.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
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

namespace {
using namespace bufferization;

/// Whether a value of a function may alias the buffer of one of its arguments. The function does not write the argument, so
/// written values have separate buffers. Follows views, branches and loops; any other operation may return its operands.
bool mayBeIn(Value value, BlockArgument argument) {
  while (value != argument) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      value = op->getOperand(0);
    } else if (auto made = dyn_cast<ToTensorOp>(op)) {
      // A restrict buffer, which loops fill, has no alias.
      return !made.getRestrict();
    } else if (isa<DestinationStyleOpInterface, tensor::InsertOp, tensor::InsertSliceOp, MaterializeInDestinationOp>(op)) {
      return false;
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      return mayBeIn(branch.thenYield().getOperand(number), argument) ||
             mayBeIn(branch.elseYield().getOperand(number), argument);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Value yielded = loop.getYieldedValues()[number];
      if (mayBeIn(yielded, argument))
        return true;
      // A loop that writes into a loop-carried tensor starts with a writable one.
      if (!mayBeIn(yielded, loop.getRegionIterArg(number)))
        return false;
      value = loop.getInitArgs()[number];
    } else {
      return op->getNumOperands() > 0 || op->getNumRegions() > 0;
    }
  }
  return true;
}

/// An invocation that is not inlined becomes one on contiguous row-major memrefs, like the arguments and results of functions
/// under `function-boundary-type-conversion=identity-layout-map`.
struct InvokeBufferization : BufferizableOpInterface::ExternalModel<InvokeBufferization, InvokeOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const { return true; }

  /// The callee may write into its arguments, unless its attributes exclude it.
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand, const AnalysisState &) const {
    auto callee = cast<InvokeOp>(op).getCalleeAttr();
    auto function = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(op, callee);
    if (!function)
      return true;
    auto writable = function.getArgAttrOfType<BoolAttr>(operand.getOperandNumber(),
                                                        BufferizationDialect::kWritableAttrName);
    return !writable || writable.getValue();
  }

  /// A result may alias an argument, unless the callee creates a new tensor.
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, cast<InvokeOp>(op).getCalleeAttr());
    bool isShown = function && function.getBody().hasOneBlock() && !bufferizesToMemoryWrite(op, operand, state);
    auto end = isShown ? dyn_cast<func::ReturnOp>(function.getBody().front().back()) : func::ReturnOp();
    AliasingValueList list;
    for (OpResult result : op->getResults()) {
      if (!isa<TensorType>(result.getType()))
        continue;
      if (!end || mayBeIn(end.getOperand(result.getResultNumber()), function.getArgument(operand.getOperandNumber())))
        list.addAlias({result, BufferRelation::Unknown, /*isDefinite=*/false});
    }
    return list;
  }

  FailureOr<BufferLikeType> getBufferType(Operation *, Value value, const BufferizationOptions &,
                                          const BufferizationState &, SmallVector<Value> &) const {
    return cast<BufferLikeType>(getMemRefTypeWithStaticIdentityLayout(cast<TensorType>(value.getType())));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> arguments;
    for (Value argument : op->getOperands()) {
      if (!isa<TensorType>(argument.getType())) {
        arguments.push_back(argument);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, argument, options, state);
      if (failed(buffer))
        return failure();
      auto wanted = getMemRefTypeWithStaticIdentityLayout(cast<TensorType>(argument.getType()));
      if (buffer->getType() != wanted)
        buffer = castOrReallocMemRefValue(rewriter, *buffer, cast<MemRefType>(wanted), options);
      if (failed(buffer))
        return failure();
      arguments.push_back(*buffer);
    }
    SmallVector<Type> results;
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<TensorType>(type);
      results.push_back(tensor ? Type(getMemRefTypeWithStaticIdentityLayout(tensor)) : type);
    }
    OperationState made(op->getLoc(), op->getName(), arguments, results, op->getAttrs());
    replaceOpWithBufferizedValues(rewriter, op, rewriter.create(made)->getResults());
    return success();
  }
};
} // namespace

void skript::attachInvokeBufferization(MLIRContext &context) {
  InvokeOp::attachInterface<InvokeBufferization>(context);
}
