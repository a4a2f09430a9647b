// SPDX-License-Identifier: Apache-2.0
/* Pattern.h - rewrite patterns on any operation, or on all that have the Elementwise trait. */

#ifndef SKRIPT_C_PATTERN_H
#define SKRIPT_C_PATTERN_H

#include "mlir-c/Rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if the operation was rewritten. */
typedef bool (*SkriptRewrite)(void *pattern, MlirOperation op, MlirRewriterBase rewriter);

/* Adds a pattern that is tried on operations of name `root`, or on every operation if it is empty. `pattern` outlives
 * the set. */
MLIR_CAPI_EXPORTED void skriptPatternSetAdd(MlirRewritePatternSet set, MlirStringRef root, unsigned benefit,
                                            SkriptRewrite rewrite, void *pattern);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_PATTERN_H */
