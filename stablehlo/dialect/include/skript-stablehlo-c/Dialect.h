// SPDX-License-Identifier: Apache-2.0
/* Dialect.h - C API of the StableHLO subset. A context must not load both this dialect and that of the OpenXLA project. */

#ifndef SKRIPT_STABLEHLO_C_DIALECT_H
#define SKRIPT_STABLEHLO_C_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SkriptStablehlo, skript_stablehlo);

/* The CHLO subset. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SkriptChlo, skript_chlo);

/* Shardy's meshes and sharding constraints, with attributes as strings; not for contexts that print them. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SkriptShardy, skript_shardy);

/* Converts an attribute whose elements are in the file's resource section to one that holds its elements; returns any
   other attribute unchanged. The constant must be verified. */
MLIR_CAPI_EXPORTED MlirAttribute skriptStablehloInlined(MlirAttribute value);

/* Whether the tensor literal at the start of the NUL-terminated text has an element that its type cannot represent. If so,
   stores the offset of the element in the text, and passes the message for the user to the callback. */
MLIR_CAPI_EXPORTED bool skriptStablehloStrayElement(const char *text, size_t *offset, MlirStringCallback callback,
                                                    void *data);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_STABLEHLO_C_DIALECT_H */
