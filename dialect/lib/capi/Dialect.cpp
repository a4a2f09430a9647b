// SPDX-License-Identifier: Apache-2.0
//===- Dialect.cpp - C API of the dialect -----------------------------------===//

#include "skript-c/Dialect.h"
#include "skript/Skript.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

extern "C" {

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Skript, skript, skript::SkriptDialect)

bool skriptOperationIsElementwise(MlirOperation op) { return OpTrait::hasElementwiseMappableTraits(unwrap(op)); }

bool skriptOperationIsPure(MlirOperation op) { return isMemoryEffectFree(unwrap(op)); }

bool skriptOperationIsSpeculatable(MlirOperation op) { return isPure(unwrap(op)); }

MlirOperation skriptOperationCloneWith(MlirOperation op, intptr_t nOperands, const MlirValue *operands,
                                       intptr_t nResults, const MlirType *results) {
  Operation *original = unwrap(op);
  SmallVector<Value> operandStorage;
  SmallVector<Type> typeStorage;
  OperationState state(original->getLoc(), original->getName(),
                       unwrapList(nOperands, operands, operandStorage), unwrapList(nResults, results, typeStorage), {});
  state.addAttributes(original->getDiscardableAttrDictionary().getValue());
  if (Attribute properties = original->getPropertiesAsAttribute())
    state.propertiesAttr = properties;
  IRMapping mapping;
  for (Region &region : original->getRegions())
    region.cloneInto(state.addRegion(), mapping);
  return wrap(Operation::create(state));
}

void skriptEmitOpError(MlirOperation op, MlirStringRef message, intptr_t nNotes, const MlirLocation *noteLocations,
                       const MlirStringRef *notes) {
  InFlightDiagnostic error = unwrap(op)->emitOpError(unwrap(message));
  for (intptr_t i = 0; i < nNotes; ++i)
    error.attachNote(unwrap(noteLocations[i])) << unwrap(notes[i]);
}
}
