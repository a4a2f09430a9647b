// SPDX-License-Identifier: Apache-2.0
/* Pass.h - passes written in another language, registered by name. */

#ifndef SKRIPT_C_PASS_H
#define SKRIPT_C_PASS_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  MlirStringRef name, summary, value /* default */;
} SkriptPassOption;

typedef struct {
  MlirStringRef flag, summary;
  MlirStringRef anchor; /* name of the operation it runs on; empty: any */
  intptr_t nDialects;
  const MlirDialectHandle *dialects; /* that it may create */
  intptr_t nOptions;
  const SkriptPassOption *options;
  const void *pass; /* passed to `run`; lives as long as the process */
  /* Runs on one operation, on any thread; `values` has one entry per option. False: failed, and reported why. */
  bool (*run)(const void *pass, MlirOperation op, const MlirStringRef *values);
} SkriptPassTable;

/* Makes the pass known to pass managers and command lines; copies what the table points to. */
MLIR_CAPI_EXPORTED void skriptRegisterPass(const SkriptPassTable *table);

/* Creates a registered pass with its options' defaults; a null pass if there is none of this flag. A pass manager takes it over. */
MLIR_CAPI_EXPORTED MlirPass skriptCreatePass(MlirStringRef flag);

/* Makes a named pipeline known; `text` is what it stands for, without the anchor: `cse,func.func(canonicalize)`. */
MLIR_CAPI_EXPORTED void skriptRegisterPipeline(MlirStringRef flag, MlirStringRef summary, MlirStringRef text);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_PASS_H */
