// SPDX-License-Identifier: Apache-2.0
//===- Chlo.cpp - the CHLO subset and its C API -----------------------------===//

#include "skript-stablehlo/Chlo.h"
#include "skript-stablehlo-c/Dialect.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;

#include "skript-stablehlo/ChloDialect.cpp.inc"

//===----------------------------------------------------------------------===//
// Textual form
//===----------------------------------------------------------------------===//

/// `T, U -> V`, or one type for all operands and the result. The last element of `types` is the result type.
static ParseResult parseMap(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> parsed;
  if (parser.parseTypeList(parsed))
    return failure();
  bool hasArrow = succeeded(parser.parseOptionalArrow());
  if (hasArrow && parser.parseType(parsed.emplace_back()))
    return failure();
  if (!hasArrow && parsed.size() == 1)
    parsed.resize(types.size(), parsed.front());
  if (parsed.size() != types.size())
    return parser.emitError(loc) << "expected " << types.size() - 1 << " operand types and one result type";
  for (auto [slot, type] : llvm::zip(types, parsed))
    *slot = type;
  return success();
}

template <typename... Types> static ParseResult parseMapTypes(OpAsmParser &parser, Types &...types) {
  return parseMap(parser, {&types...});
}

template <typename... Types> static void printMapTypes(OpAsmPrinter &printer, Operation *op, Types...) {
  printer << op->getOperandTypes() << " -> " << op->getResultTypes();
}

#define GET_OP_CLASSES
#include "skript-stablehlo/ChloOps.cpp.inc"

LogicalResult skript_chlo::TopKOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType());
  auto values = cast<RankedTensorType>(getValues().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  if (operand.getRank() == 0)
    return emitOpError("needs an operand with a last dimension, but it is ") << operand;
  SmallVector<int64_t> shape(operand.getShape());
  int64_t k = getK(), last = shape.back();
  if (k < 0 || (!ShapedType::isDynamic(last) && k > last))
    return emitOpError("takes ") << k << " elements of a dimension of " << operand;
  shape.back() = k;
  for (RankedTensorType result : {values, indices})
    if (failed(verifyCompatibleShape(result.getShape(), shape)))
      return emitOpError("gives ") << result << " where " << k << " elements of the last dimension of " << operand
                                   << " are taken";
  if (values.getElementType() != operand.getElementType())
    return emitOpError("gives ") << values << ", whose elements are not those of " << operand;
  return success();
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

namespace {
struct ChloInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void skript_chlo::ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "skript-stablehlo/ChloOps.cpp.inc"
      >();
  addInterfaces<ChloInliner>();
}

extern "C" {
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(SkriptChlo, skript_chlo, skript_chlo::ChloDialect)
}
