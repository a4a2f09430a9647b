// SPDX-License-Identifier: Apache-2.0
/* Dialect.h - C face of the StableHLO subset; never in one context with the definition of the OpenXLA project. */

#ifndef SKRIPT_STABLEHLO_C_DIALECT_H
#define SKRIPT_STABLEHLO_C_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SkriptStablehlo, skript_stablehlo);

/* The CHLO subset. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SkriptChlo, skript_chlo);

/* Shardy's meshes and constraints; attributes are read as strings. Not for a context that writes them. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SkriptShardy, skript_shardy);

/* A constant's elements that stand in the file's resources, as elements of the attribute itself; any other attribute as it
   is. The constant has been verified. */
MLIR_CAPI_EXPORTED MlirAttribute skriptStablehloInlined(MlirAttribute value);

/* Whether a literal of a tensor, with which a text begins that ends with NUL, has an element that is none of its type: then
   its place in the text, and the message for whoever wrote it. */
MLIR_CAPI_EXPORTED bool skriptStablehloStrayElement(const char *text, size_t *offset, MlirStringCallback callback,
                                                    void *data);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_STABLEHLO_C_DIALECT_H */
