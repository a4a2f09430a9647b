// SPDX-License-Identifier: Apache-2.0
/* Transforms.h - transformations that stay linear on long graphs; see skript/Transforms.h. */

#ifndef SKRIPT_C_TRANSFORMS_H
#define SKRIPT_C_TRANSFORMS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fuses elementwise linalg.generic ops below `root` within bounds, with `mapsOnly` not into those that reduce; false if the
 * rewriting came to no end. */
MLIR_CAPI_EXPORTED bool skriptFuseElementwise(MlirOperation root, unsigned operations, unsigned inputs, bool mapsOnly);

/* Computes elementwise linalg.generic ops below `root` in the payloads of what reads them; false if the rewriting came to no
 * end. */
MLIR_CAPI_EXPORTED bool skriptComputeInUsers(MlirOperation root, unsigned operations, unsigned inputs);

/* Replaces operations below `root` by equal ones before them, and erases those without users. */
MLIR_CAPI_EXPORTED void skriptMergeDuplicates(MlirOperation root);

/* A part of a formula, in front of it: `results` are what `destinations` (as many as the formula's) hold when its steps
 * from `offsets` on, as many as `sizes` say, are taken. Without `guarded` the predicate is not asked. False, and an
 * error, for formulas that run in order. */
MLIR_CAPI_EXPORTED bool skriptComputePart(MlirOperation formula, const MlirValue *destinations, const int64_t *offsets,
                                          const int64_t *sizes, bool guarded, MlirValue *results);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_TRANSFORMS_H */
