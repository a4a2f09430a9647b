// SPDX-License-Identifier: Apache-2.0
//===- Reduction.cpp - the reduction pass of `skript-reduce` ----------------===//

#include "skript/Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;

/// A value of the type that `op` may use: one of its operands, else the latest preceding result in its block or an enclosing
/// one, else an argument of these blocks.
static Value valueOfType(Operation *op, Type type) {
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      return operand;
  for (Operation *around = op; around && !around->hasTrait<OpTrait::IsIsolatedFromAbove>();
       around = around->getParentOp()) {
    Block *block = around->getBlock();
    if (!block)
      return {};
    for (Operation *before = around->getPrevNode(); before; before = before->getPrevNode())
      for (OpResult result : before->getResults())
        if (result.getType() == type)
          return result;
    for (BlockArgument argument : block->getArguments())
      if (argument.getType() == type)
        return argument;
  }
  return {};
}

/// Zero, or a tensor of zeros, whose dynamic extents are 1.
static Value zero(RewriterBase &rewriter, Location location, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !tensor.hasStaticShape()) {
    TypedAttr element = rewriter.getZeroAttr(tensor.getElementType());
    if (!element || tensor.getEncoding())
      return {};
    Value scalar = arith::ConstantOp::create(rewriter, location, element);
    SmallVector<Value> open(tensor.getNumDynamicDims());
    for (Value &extent : open)
      extent = arith::ConstantIndexOp::create(rewriter, location, 1);
    return tensor::SplatOp::create(rewriter, location, scalar, tensor, open);
  }
  TypedAttr value = rewriter.getZeroAttr(type);
  return value ? arith::ConstantOp::create(rewriter, location, value) : Value();
}

/// Whether `op` can be erased: its replacement must be simpler.
static bool mayBeLeftOut(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || op->hasTrait<OpTrait::ConstantLike>())
    return op->use_empty() && !op->hasTrait<OpTrait::IsTerminator>();
  if (isa<tensor::SplatOp>(op) && matchPattern(op->getOperand(0), m_Constant()))
    return false;
  return !isa<SymbolOpInterface>(op) || SymbolTable::symbolKnownUseEmpty(op, op->getParentOp());
}

/// Replaces the results by values of the same types, if such values exist.
static void leaveOut(Operation *op, RewriterBase &rewriter) {
  SmallVector<Value> values;
  rewriter.setInsertionPoint(op);
  for (OpResult result : op->getResults()) {
    Value value = result.use_empty() ? result : valueOfType(op, result.getType());
    if (!value)
      value = zero(rewriter, op->getLoc(), result.getType());
    if (!value)
      return;
    values.push_back(value);
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if (result != value)
      rewriter.replaceAllUsesWith(result, value);
  rewriter.eraseOp(op);
}

namespace {
/// Erased operations.
struct Erased : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) final { operations.insert(op); }
  DenseSet<Operation *> operations;
};

/// Erases operations in groups of decreasing size, until every remaining operation is needed.
struct LeaveOut : PassWrapper<LeaveOut, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LeaveOut)

  LeaveOut() = default;
  LeaveOut(const LeaveOut &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "leave-out"; }
  StringRef getDescription() const final {
    return "Leave out what a test does not miss: operations of all dialects, functions and what stands inside of them";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, tensor::TensorDialect>();
  }

  void runOnOperation() final {
    SmallVector<std::string> arguments(testArguments.begin(), testArguments.end());
    Tester tester(test, arguments);
    ModuleOp whole = getOperation();
    if (!llvm::sys::fs::can_execute(test)) {
      whole.emitError() << "`test` is a program that looks into the file it is given, `" << test << "` cannot be run; "
                        << "write `--leave-out=test=./PROGRAM`";
      return signalPassFailure();
    }
    if (!isInteresting(tester, whole)) {
      whole.emitError() << "the test `" << test << "` does not find in the whole module what it looks for; it says so by exit "
                        << "status 1";
      return signalPassFailure();
    }
    OwningOpRef<ModuleOp> shortest(whole.clone());
    bool less;
    size_t group, next = std::max<size_t>(candidates(*shortest).size(), 1);
    do {
      group = next;
      less = shorten(tester, shortest, group);
      next = (group + 1) / 2;
    } while (less || group > 1);
    whole.getBodyRegion().takeBody(shortest->getBodyRegion());
  }

private:
  static bool isInteresting(const Tester &tester, ModuleOp module) {
    return tester.isInteresting(module).first == Tester::Interestingness::True;
  }

  static SmallVector<Operation *> candidates(ModuleOp module) {
    SmallVector<Operation *> all;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != module && mayBeLeftOut(op))
        all.push_back(op);
    });
    return all;
  }

  /// One walk over the module, `group` operations at a time, users first; returns whether anything was erased.
  static bool shorten(const Tester &tester, OwningOpRef<ModuleOp> &module, size_t group) {
    bool less = false;
    size_t kept = 0;
    for (;;) {
      SmallVector<Operation *> all = candidates(*module);
      if (kept >= all.size())
        return less;
      size_t end = all.size() - kept, begin = end - std::min(end, group);
      OwningOpRef<ModuleOp> copy = without(*module, ArrayRef(all).slice(begin, end - begin));
      if (copy && isInteresting(tester, *copy)) {
        module = std::move(copy);
        less = true;
      } else {
        kept += end - begin;
      }
    }
  }

  /// A copy of the module without some operations and the operations that only they used; null if the copy is invalid or equal.
  static OwningOpRef<ModuleOp> without(ModuleOp module, ArrayRef<Operation *> operations) {
    IRMapping copies;
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone(copies)));
    Erased erased;
    IRRewriter rewriter(module.getContext(), &erased);
    for (Operation *op : llvm::reverse(operations))
      if (Operation *candidate = copies.lookup(op); !erased.operations.contains(candidate))
        leaveOut(candidate, rewriter);
    if (erased.operations.empty())
      return {};
    copy->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
    });
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    return succeeded(verify(*copy)) ? std::move(copy) : OwningOpRef<ModuleOp>();
  }

  Option<std::string> test{*this, "test", llvm::cl::desc("the program that looks into a file: exit status 1 if it finds what "
                                                         "it looks for, 0 if not")};
  ListOption<std::string> testArguments{*this, "test-arg", llvm::cl::desc("arguments of the program, before the file")};
};
} // namespace

void skript::registerReduction() { PassRegistration<LeaveOut>(); }
