// SPDX-License-Identifier: Apache-2.0
/* Transforms.h - transformations with linear time on long graphs; see skript/Transforms.h. */

#ifndef SKRIPT_C_TRANSFORMS_H
#define SKRIPT_C_TRANSFORMS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fuses elementwise linalg.generic ops below `root` within bounds, with `mapsOnly` not into reductions; false if the
 * rewriting does not converge. */
MLIR_CAPI_EXPORTED bool skriptFuseElementwise(MlirOperation root, unsigned operations, unsigned inputs, bool mapsOnly);

/* Computes elementwise linalg.generic ops below `root` in the payloads of their users; false if the rewriting does not
 * converge. */
MLIR_CAPI_EXPORTED bool skriptComputeInUsers(MlirOperation root, unsigned operations, unsigned inputs);

/* Replaces operations below `root` by equal preceding ones, and erases operations without users. */
MLIR_CAPI_EXPORTED void skriptMergeDuplicates(MlirOperation root);

/* Returns a hash of a function without its name and locations. Equal functions have equal hashes, except functions that differ in
 * the order of operands of a commutative operation. The hash differs between processes. */
MLIR_CAPI_EXPORTED size_t skriptFingerprint(MlirOperation function);

/* Whether two functions are equal except for their names and locations. */
MLIR_CAPI_EXPORTED bool skriptAreEqualFunctions(MlirOperation left, MlirOperation right);

/* Whether an attribute is the iterator type of a loop of linalg that reduces. */
MLIR_CAPI_EXPORTED bool skriptIsReduction(MlirAttribute iterator);

/* Inserts operations that compute a tile of a formula, before the formula: `results` are the contents of `destinations`,
 * one for each destination of the formula, after the steps that `offsets` and `sizes` select. Without `guarded`, the
 * predicate is omitted: it must hold in the whole tile. False, and a reported error, for formulas that run in order. */
MLIR_CAPI_EXPORTED bool skriptComputePart(MlirOperation formula, const MlirValue *destinations, const int64_t *offsets,
                                          const int64_t *sizes, bool guarded, MlirValue *results);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_TRANSFORMS_H */
