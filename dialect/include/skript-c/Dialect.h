// SPDX-License-Identifier: Apache-2.0
/* Dialect.h - C API of the dialect, and queries that MLIR's C API lacks. */

#ifndef SKRIPT_C_DIALECT_H
#define SKRIPT_C_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Skript, skript);

/* Whether the operation has the Elementwise trait, and the other three of ElementwiseMappable. */
MLIR_CAPI_EXPORTED bool skriptOperationIsElementwise(MlirOperation op);

/* Whether the operation and its regions have no memory effects. */
MLIR_CAPI_EXPORTED bool skriptOperationIsPure(MlirOperation op);

/* Whether the operation may be speculated: it has no memory effects and no undefined behaviour. */
MLIR_CAPI_EXPORTED bool skriptOperationIsSpeculatable(MlirOperation op);

/* A detached copy with other operands and result types; attributes, properties, location and regions are kept. */
MLIR_CAPI_EXPORTED MlirOperation skriptOperationCloneWith(MlirOperation op, intptr_t nOperands,
                                                          const MlirValue *operands, intptr_t nResults,
                                                          const MlirType *results);

/* Reports an error at the operation: `'name' op message`, with notes at locations. */
MLIR_CAPI_EXPORTED void skriptEmitOpError(MlirOperation op, MlirStringRef message, intptr_t nNotes,
                                          const MlirLocation *noteLocations, const MlirStringRef *notes);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_DIALECT_H */
