/* Transforms.h - transformations that stay linear on long graphs; see skript/Transforms.h. */

#ifndef SKRIPT_C_TRANSFORMS_H
#define SKRIPT_C_TRANSFORMS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fuses elementwise linalg.generic ops below `root` within bounds; false if the rewriting came to no end. */
MLIR_CAPI_EXPORTED bool skriptFuseElementwise(MlirOperation root, unsigned operations, unsigned inputs);

/* Replaces operations below `root` by equal ones before them, and erases those without users. */
MLIR_CAPI_EXPORTED void skriptMergeDuplicates(MlirOperation root);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_TRANSFORMS_H */
