// SPDX-License-Identifier: Apache-2.0
//===- Dialect.cpp - the dialect itself: hooks and inlining ----------------===//

#include "skript/Skript.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace skript;

#include "skript/SkriptDialect.cpp.inc"
#include "skript/SkriptEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "skript/SkriptAttributes.cpp.inc"

namespace {
/// All operations can be inlined anywhere; kept invocations are not inlined.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *call, Operation *, bool) const final { return !call->hasAttr("skript.keep"); }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void SkriptDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "skript/SkriptAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "skript/SkriptOps.cpp.inc"
      >();
  addInterfaces<Inliner>();
  attachIntrinsicBufferization(*getContext());
  attachInvokeBufferization(*getContext());
}

Operation *SkriptDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  return arith::ConstantOp::materialize(builder, value, type, location);
}

/// Attributes of the dialect on functions, arguments and results: known names have a fixed kind.
static LogicalResult verifyAttribute(Operation *op, NamedAttribute attribute, StringRef where) {
  StringRef name = attribute.getName().strref();
  if ((name == "skript.entry" || name == "skript.keep") && !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << "'" << name << "' on " << where << " is a unit attribute, but has the value "
                           << attribute.getValue();
  if ((name == "skript.name" || name == "skript.role") && !isa<StringAttr>(attribute.getValue()))
    return op->emitError() << "'" << name << "' on " << where << " is a string, but has the value "
                           << attribute.getValue();
  if (name == "skript.bounds") {
    auto bounds = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!bounds || llvm::any_of(bounds.asArrayRef(), [](int64_t bound) { return bound < 0; }))
      return op->emitError() << "'skript.bounds' on " << where
                             << " is an array of i64, none of them negative, but has the value " << attribute.getValue();
  }
  return success();
}

LogicalResult SkriptDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName().strref() == "skript.entry" && !isa<FunctionOpInterface>(op))
    return op->emitError("'skript.entry' marks functions only");
  if (attribute.getName().strref() == "skript.keep" && !isa<InvokeOp>(op))
    return op->emitError("'skript.keep' marks invocations only");
  return verifyAttribute(op, attribute, "an operation");
}

LogicalResult SkriptDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyAttribute(op, attribute, "an argument");
}

LogicalResult SkriptDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                         NamedAttribute attribute) {
  return verifyAttribute(op, attribute, "a result");
}

void skript::registerSkript(DialectRegistry &registry) { registry.insert<SkriptDialect>(); }
