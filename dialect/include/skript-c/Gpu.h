// SPDX-License-Identifier: Apache-2.0
/* Gpu.h - what code generation for GPUs needs of upstream's libraries. */

#ifndef SKRIPT_C_GPU_H
#define SKRIPT_C_GPU_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passes the binary of a `spirv.module` to `callback`; false, and an error, if it has none. */
MLIR_CAPI_EXPORTED bool skriptSerializeSpirv(MlirOperation module, MlirStringCallback callback, void *into);

/* Functions of the dialect `math` on f32 below `root` become upstream's polynomials; false if the rewriting came to no end. */
MLIR_CAPI_EXPORTED bool skriptApproximateMath(MlirOperation root);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_GPU_H */
