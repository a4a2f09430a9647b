// SPDX-License-Identifier: Apache-2.0
/* Tools.h - mains of mlir-opt, mlir-translate, mlir-lsp-server and mlir-reduce. Each returns the exit status. */

#ifndef SKRIPT_C_TOOLS_H
#define SKRIPT_C_TOOLS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers all upstream dialects, extensions and passes before it reads the command line. `--help` ends with `help`. */
MLIR_CAPI_EXPORTED int skriptOptMain(int argc, char **argv, MlirDialectRegistry registry, MlirStringRef help);
MLIR_CAPI_EXPORTED int skriptTranslateMain(int argc, char **argv);
MLIR_CAPI_EXPORTED int skriptLspServerMain(int argc, char **argv, MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED int skriptReduceMain(int argc, char **argv, MlirDialectRegistry registry);

/* Text to a module: the new operation, or null after it reported why not. `name` is the file's. */
typedef MlirOperation (*SkriptImport)(const void *translation, MlirContext context, MlirStringRef name,
                                      MlirStringRef text);
/* Makes `--flag` known to the translate tool. */
MLIR_CAPI_EXPORTED void skriptRegisterImport(MlirStringRef flag, MlirStringRef summary, SkriptImport import,
                                             const void *translation);

/* A module (never another operation) to text, which goes to `write`. False: failed, and reported why. */
typedef bool (*SkriptExport)(const void *translation, MlirOperation module, MlirStringCallback write, void *stream);
/* Makes `--flag` known to the translate tool. */
MLIR_CAPI_EXPORTED void skriptRegisterExport(MlirStringRef flag, MlirStringRef summary, SkriptExport export_,
                                             const void *translation);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_TOOLS_H */
