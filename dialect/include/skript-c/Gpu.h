// SPDX-License-Identifier: Apache-2.0
/* Gpu.h - upstream functions for GPU code generation. */

#ifndef SKRIPT_C_GPU_H
#define SKRIPT_C_GPU_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Serializes a `spirv.module` and passes the binary to `callback`. Returns false if `module` is another operation or if
 * serialization fails. */
MLIR_CAPI_EXPORTED bool skriptSerializeSpirv(MlirOperation module, MlirStringCallback callback, void *into);

/* Replaces f32 operations of the `math` dialect below `root` with upstream's expansions and polynomial approximations.
 * Returns false if the rewriting does not converge. */
MLIR_CAPI_EXPORTED bool skriptApproximateMath(MlirOperation root);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_GPU_H */
