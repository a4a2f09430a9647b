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
  MlirStringRef anchor; /* name of the operation that it runs on; empty: any */
  intptr_t nDialects;
  const MlirDialectHandle *dialects; /* the dialects of operations that it may create */
  intptr_t nOptions;
  const SkriptPassOption *options;
  const void *pass; /* passed to `run`; lives as long as the process */
  /* Runs on one operation, on any thread; `values` has one entry per option. False after a reported error. */
  bool (*run)(const void *pass, MlirOperation op, const MlirStringRef *values);
} SkriptPassTable;

/* Registers the pass with pass managers and command lines; copies the strings and lists of the table. */
MLIR_CAPI_EXPORTED void skriptRegisterPass(const SkriptPassTable *table);

/* Creates a registered pass with default options; null for an unknown flag. A pass manager takes ownership. */
MLIR_CAPI_EXPORTED MlirPass skriptCreatePass(MlirStringRef flag);

/* Registers a named pipeline; `text` contains its passes without the anchor: `cse,func.func(canonicalize)`. */
MLIR_CAPI_EXPORTED void skriptRegisterPipeline(MlirStringRef flag, MlirStringRef summary, MlirStringRef text);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_PASS_H */
