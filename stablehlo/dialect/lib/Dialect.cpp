// SPDX-License-Identifier: Apache-2.0
//===- Dialect.cpp - the StableHLO dialect and its C API --------------------===//

#include "skript-stablehlo-c/Dialect.h"
#include "skript-stablehlo/Assembly.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace skript_stablehlo;

#include "skript-stablehlo/StablehloDialect.cpp.inc"
#include "skript-stablehlo/StablehloEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "skript-stablehlo/StablehloAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "skript-stablehlo/StablehloOps.cpp.inc"

namespace {
/// All operations of the dialect can be inlined anywhere.
struct StablehloInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void StablehloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "skript-stablehlo/StablehloAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "skript-stablehlo/StablehloOps.cpp.inc"
      >();
  addInterfaces<StablehloInliner>();
}

extern "C" {
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(SkriptStablehlo, skript_stablehlo, skript_stablehlo::StablehloDialect)

MlirAttribute skriptStablehloInlined(MlirAttribute value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(unwrap(value));
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return value;
  // Elements narrower than a byte are its lowest bits. A pred is true if any bit of its byte is set.
  ArrayRef<char> bytes = blob->getData();
  auto narrow = dyn_cast<IntegerType>(resource.getElementType());
  unsigned width = narrow ? narrow.getWidth() : 8;
  if (width == 1)
    return wrap(DenseElementsAttr::get(resource.getType(), llvm::map_to_vector(bytes, [](char b) { return b != 0; })));
  if (width < 8)
    return wrap(DenseElementsAttr::get(resource.getType(), llvm::map_to_vector(bytes, [&](char b) {
      return APInt(8, uint8_t(b)).trunc(width);
    })));
  return wrap(DenseElementsAttr::getFromRawBuffer(resource.getType(), bytes));
}
}
