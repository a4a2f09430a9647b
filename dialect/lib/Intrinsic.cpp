// SPDX-License-Identifier: Apache-2.0
//===- Intrinsic.cpp - operators computed by kernels of the runtime --------===//

#include "skript/Skript.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace skript;

LogicalResult IntrinsicOp::verify() {
  if (getOuts().empty())
    return emitOpError("has no destination: `outs` needs at least one array");
  bool tensors = isa<TensorType>(getOuts().front().getType());
  for (Value operand : getOperands())
    if (isa<TensorType>(operand.getType()) != tensors)
      return emitOpError() << "works on tensors or on memrefs, but has operands of both";
  if (getGiven().size() > getInputs().size())
    return emitOpError() << "is given " << getGiven().size() << " attributes, but has only " << getInputs().size()
                         << " inputs";
  for (auto [name, value] : llvm::zip(getGiven().getAsValueRange<StringAttr>(),
                                      getInputs().take_back(getGiven().size()))) {
    auto type = cast<ShapedType>(value.getType());
    Type element = type.getElementType();
    if (type.getRank() > 1 || !(element.isInteger(64) || element.isF64() || element.isInteger(1)))
      return emitOpError() << "is given the attribute '" << name
                           << "' as one value or a list of type 'i64', 'f64' or 'i1', but this is " << type;
    if (getOperatorAttributes().get(name))
      return emitOpError() << "is given the attribute '" << name << "', which 'operator_attributes' has as well";
  }
  int64_t dynamic = getDynamicOutputs().size(), plain = static_cast<int64_t>(getOuts().size()) - dynamic;
  if (plain <= 0)
    return emitOpError() << "returns the extents of " << dynamic << " outputs, but has only " << getOuts().size()
                         << " destinations";
  for (auto [number, position] : llvm::enumerate(getDynamicOutputs())) {
    if (position < 0 || position >= plain)
      return emitOpError() << "returns the extents of output " << position << ", but has " << plain << " outputs";
    auto output = cast<ShapedType>(getOuts()[position].getType());
    auto extents = cast<ShapedType>(getOuts()[plain + number].getType());
    if (!extents.getElementType().isInteger(64) || !extents.hasStaticShape() || extents.getRank() != 1 ||
        extents.getDimSize(0) != output.getRank())
      return emitOpError() << "returns the extents of output " << position << " as " << output.getRank()
                           << " elements of type 'i64', but the destination for them is " << extents;
  }
  return success();
}

LogicalResult IntrinsicOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  for (Value out : getOuts())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), out));
  return success();
}

void IntrinsicOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
  // The position in the stream of random numbers.
  if (getRandom()) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

namespace {
using namespace bufferization;

struct IntrinsicBufferization
    : DstBufferizableOpInterfaceExternalModel<IntrinsicBufferization, IntrinsicOp> {
  /// Destinations are overwritten without being read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<DestinationStyleOpInterface>(op).isDpsInput(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto intrinsic = cast<IntrinsicOp>(op);
    if (intrinsic.getResults().empty())
      return success();
    auto buffers = [&](ValueRange tensors, SmallVector<Value> &found) -> LogicalResult {
      for (Value tensor : tensors) {
        FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
        if (failed(buffer))
          return failure();
        found.push_back(*buffer);
      }
      return success();
    };
    SmallVector<Value> inputs, outs;
    if (failed(buffers(intrinsic.getInputs(), inputs)) || failed(buffers(intrinsic.getOuts(), outs)))
      return failure();
    auto made = IntrinsicOp::create(rewriter, op->getLoc(), TypeRange(), intrinsic.getOperatorNameAttr(),
                                    intrinsic.getOperatorAttributesAttr(), intrinsic.getDynamicOutputsAttr(),
                                    intrinsic.getGivenAttr(), intrinsic.getRandomAttr(), inputs, outs);
    made->setDiscardableAttrs(intrinsic->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }
};
} // namespace

void skript::attachIntrinsicBufferization(MLIRContext &context) {
  IntrinsicOp::attachInterface<IntrinsicBufferization>(context);
}
