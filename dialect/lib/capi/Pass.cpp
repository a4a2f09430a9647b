// SPDX-License-Identifier: Apache-2.0
//===- Pass.cpp - passes written in another language ------------------------===//

#include "skript-c/Pass.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <mutex>

using namespace mlir;

namespace {

/// An owned copy of a row of a pass table: one per registered pass, for the lifetime of the process.
struct Description {
  struct Setting {
    std::string name, summary, value;
  };
  std::string flag, summary, anchor;
  SmallVector<MlirDialectHandle> dialects;
  SmallVector<Setting> settings;
  const void *pass;
  bool (*run)(const void *, MlirOperation, const MlirStringRef *);
  SelfOwningTypeID id;

  explicit Description(const SkriptPassTable &table)
      : flag(unwrap(table.flag)), summary(unwrap(table.summary)), anchor(unwrap(table.anchor)),
        dialects(table.dialects, table.dialects + table.nDialects), pass(table.pass), run(table.run) {
    for (const SkriptPassOption &option : ArrayRef(table.options, table.nOptions))
      settings.push_back({unwrap(option.name).str(), unwrap(option.summary).str(), unwrap(option.value).str()});
  }
};

class ForeignPass : public Pass {
public:
  explicit ForeignPass(const Description &description)
      : Pass(description.id.getTypeID(),
             description.anchor.empty() ? std::nullopt : std::optional<StringRef>(description.anchor)),
        description(description) {
    for (const Description::Setting &setting : description.settings)
      options.push_back(std::make_unique<Option<std::string>>(
          *this, setting.name, llvm::cl::desc(setting.summary), llvm::cl::init(setting.value)));
  }
  ForeignPass(const ForeignPass &other) : ForeignPass(other.description) {}

  StringRef getName() const override { return description.flag; }
  StringRef getArgument() const override { return description.flag; }
  StringRef getDescription() const override { return description.summary; }

  bool canScheduleOn(RegisteredOperationName name) const override {
    return !getOpName() || name.getStringRef() == *getOpName();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    for (MlirDialectHandle handle : description.dialects)
      mlirDialectHandleInsertDialect(handle, wrap(&registry));
  }

  void runOnOperation() override {
    SmallVector<MlirStringRef> values;
    for (const std::unique_ptr<Option<std::string>> &option : options)
      values.push_back(wrap(StringRef(option->getValue())));
    if (!description.run(description.pass, wrap(getOperation()), values.data()))
      signalPassFailure();
  }

protected:
  // Pass::clone copies the options' values.
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<ForeignPass>(*this); }

private:
  const Description &description;
  std::vector<std::unique_ptr<Option<std::string>>> options;
};

/// The registered passes by their flags; they are never removed.
struct Registered {
  std::mutex mutex;
  llvm::StringMap<const Description *> passes;
};

Registered &registered() {
  static Registered registered;
  return registered;
}

} // namespace

extern "C" {

MlirPass skriptCreatePass(MlirStringRef flag) {
  std::lock_guard<std::mutex> lock(registered().mutex);
  const Description *description = registered().passes.lookup(unwrap(flag));
  return wrap(static_cast<Pass *>(description ? new ForeignPass(*description) : nullptr));
}

void skriptRegisterPass(const SkriptPassTable *table) {
  auto *description = new Description(*table);
  {
    std::lock_guard<std::mutex> lock(registered().mutex);
    registered().passes[description->flag] = description;
  }
  registerPass([description] { return std::make_unique<ForeignPass>(*description); });
}

void skriptRegisterPipeline(MlirStringRef flag, MlirStringRef summary, MlirStringRef text) {
  std::string pipeline = unwrap(text).str();
  registerPassPipeline(
      unwrap(flag), unwrap(summary),
      [pipeline](OpPassManager &manager, StringRef options,
                 function_ref<LogicalResult(const Twine &)> report) -> LogicalResult {
        if (!options.empty())
          return report("the pipeline takes no options");
        return parsePassPipeline(pipeline, manager);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}
}
