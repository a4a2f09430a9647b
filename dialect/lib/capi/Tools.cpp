// SPDX-License-Identifier: Apache-2.0
//===- Tools.cpp - mains of the command line tools --------------------------===//

#include "skript-c/Tools.h"
#include "skript/Reduction.h"
#include "skript/Skript.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/InitAllTranslations.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static void registerAll(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  skript::registerSkript(registry);
}

/// Whether MLIR reads all of a file. Reports text that it would skip, and operations of unknown dialects.
static bool isReadable(std::unique_ptr<llvm::MemoryBuffer> &file) {
  llvm::StringRef text = file->getBuffer();
  const char *what = nullptr;
  size_t place = 0;
  if (isBytecode(*file)) {
    // Magic number and version, then the name of what wrote it.
    if (!text.substr(0, 16).contains("StableHLO_"))
      return true;
    what = "this is a portable artifact of StableHLO, in a dialect of its own: write the program as text";
  } else {
    place = text.find('\0');
    if (place == llvm::StringRef::npos)
      return true;
    what = "there is a character NUL, which no program holds";
  }
  llvm::SourceMgr sources;
  auto at = llvm::SMLoc::getFromPointer(text.data() + place);
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  sources.PrintMessage(at, llvm::SourceMgr::DK_Error, what);
  return false;
}

/// `mlir-opt` after its options.
static LogicalResult optimize(llvm::StringRef input, llvm::StringRef output, const MlirOptMainConfig &config,
                              DialectRegistry &registry) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &message);
  std::unique_ptr<llvm::ToolOutputFile> written = file ? openOutputFile(output, &message) : nullptr;
  if (!written) {
    llvm::errs() << message << "\n";
    return failure();
  }
  if (!isReadable(file) || failed(MlirOptMain(written->os(), std::move(file), registry, config)))
    return failure();
  written->keep();
  return success();
}

/// The note about the input in `--help`.
#define TRUSTED "The input is trusted: a module may reach everything that MLIR and LLVM do. Run it on your own files only.\n"

extern "C" {

int skriptOptMain(int argc, char **argv, MlirDialectRegistry registry, MlirStringRef help) {
  llvm::InitLLVM init(argc, argv);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  registerAllPasses();
  registerAll(*unwrap(registry));
  // For passes that translate on the way, as `gpu-module-to-binary` does.
  registerAllGPUToLLVMIRTranslations(*unwrap(registry));
  // At the end, because upstream's option groups are longer than a terminal.
  llvm::cl::extrahelp end(unwrap(help));
  auto [input, output] = registerAndParseCLIOptions(argc, argv, "SkriptND optimizer driver. " TRUSTED, *unwrap(registry));
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These options do not read the input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, *unwrap(registry)));
  return asMainReturnCode(optimize(input, output, config, *unwrap(registry)));
}

int skriptTranslateMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAllTranslations();
  return asMainReturnCode(mlirTranslateMain(argc, argv, "SkriptND translation tool. " TRUSTED));
}

int skriptLspServerMain(int argc, char **argv, MlirDialectRegistry registry) {
  llvm::InitLLVM init(argc, argv);
  registerAll(*unwrap(registry));
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}

int skriptReduceMain(int argc, char **argv, MlirDialectRegistry registry) {
  llvm::InitLLVM init(argc, argv);
  registerAllPasses();
  registerAll(*unwrap(registry));
  skript::registerReduction();
  MLIRContext context(*unwrap(registry));
  return asMainReturnCode(mlirReduceMain(argc, argv, context));
}

void skriptRegisterImport(MlirStringRef flag, MlirStringRef summary, SkriptImport import, const void *translation) {
  TranslateRawSourceMgrToMLIRFunction function = [import, translation](llvm::SourceMgr &sources,
                                                                       MLIRContext *context) -> OwningOpRef<Operation *> {
    const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
    return unwrap(import(translation, wrap(context), wrap(buffer->getBufferIdentifier()), wrap(buffer->getBuffer())));
  };
  TranslateToMLIRRegistration registration(unwrap(flag), unwrap(summary), function, registerAll);
}

void skriptRegisterExport(MlirStringRef flag, MlirStringRef summary, SkriptExport export_, const void *translation) {
  TranslateFromMLIRFunction function = [export_, translation](Operation *op, raw_ostream &stream) -> LogicalResult {
    if (!isa<ModuleOp>(op))
      return op->emitError("expected a module");
    auto write = [](MlirStringRef text, void *stream) { *static_cast<raw_ostream *>(stream) << unwrap(text); };
    return success(export_(translation, wrap(op), write, &stream));
  };
  TranslateFromMLIRRegistration registration(unwrap(flag), unwrap(summary), function, registerAll);
}
}
