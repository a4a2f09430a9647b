// SPDX-License-Identifier: Apache-2.0
/* Tools.h - main functions of mlir-opt, mlir-translate, mlir-lsp-server and mlir-reduce, which return exit statuses. */

#ifndef SKRIPT_C_TOOLS_H
#define SKRIPT_C_TOOLS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers all upstream dialects, extensions and passes, then reads the command line. `--help` ends with `help`. */
MLIR_CAPI_EXPORTED int skriptOptMain(int argc, char **argv, MlirDialectRegistry registry, MlirStringRef help);
MLIR_CAPI_EXPORTED int skriptTranslateMain(int argc, char **argv);
MLIR_CAPI_EXPORTED int skriptLspServerMain(int argc, char **argv, MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED int skriptReduceMain(int argc, char **argv, MlirDialectRegistry registry);

/* Converts text to a module; null after a reported error. `name` is the name of the file. */
typedef MlirOperation (*SkriptImport)(const void *translation, MlirContext context, MlirStringRef name,
                                      MlirStringRef text);
/* Adds `--flag` to the translate tool. */
MLIR_CAPI_EXPORTED void skriptRegisterImport(MlirStringRef flag, MlirStringRef summary, SkriptImport import,
                                             const void *translation);

/* Converts a module (never another operation) to text, which it passes to `write`. False after a reported error. */
typedef bool (*SkriptExport)(const void *translation, MlirOperation module, MlirStringCallback write, void *stream);
/* Adds `--flag` to the translate tool. */
MLIR_CAPI_EXPORTED void skriptRegisterExport(MlirStringRef flag, MlirStringRef summary, SkriptExport export_,
                                             const void *translation);

#ifdef __cplusplus
}
#endif

#endif /* SKRIPT_C_TOOLS_H */
