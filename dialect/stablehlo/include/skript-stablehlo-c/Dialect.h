/* Dialect.h - C face of the StableHLO subset; never in one context with the definition of the OpenXLA project. */

#ifndef SKRIPT_STABLEHLO_C_DIALECT_H
#define SKRIPT_STABLEHLO_C_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(SkriptStablehlo, skript_stablehlo);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_STABLEHLO_C_DIALECT_H */
