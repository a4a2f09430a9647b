// SPDX-License-Identifier: Apache-2.0
//===- Duplicates.cpp - merging of equal operations -------------------------===//

#include "skript/Transforms.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/ScopedHashTable.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/RecyclingAllocator.h"

using namespace mlir;

/// Operations that are equal except for their locations have equal hashes.
static llvm::hash_code hash(Operation *op) {
  llvm::hash_code code = OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                                           OperationEquivalence::ignoreHashValue,
                                                           OperationEquivalence::IgnoreLocations);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      code = llvm::hash_combine(code, inner->getName(), inner->getRawDictionaryAttrs());
      for (Value operand : inner->getOperands())
        // Values that the regions define have another address in each copy.
        if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
          code = llvm::hash_combine(code, operand.getAsOpaquePointer());
    });
  return code;
}

namespace {
struct Equality : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) { return static_cast<unsigned>(hash(const_cast<Operation *>(op))); }
  static bool isEqual(const Operation *first, const Operation *second) {
    Operation *left = const_cast<Operation *>(first), *right = const_cast<Operation *>(second);
    if (left == right)
      return true;
    if (left == getTombstoneKey() || left == getEmptyKey() || right == getTombstoneKey() || right == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(left, right, OperationEquivalence::IgnoreLocations);
  }
};

using Allocator = llvm::RecyclingAllocator<llvm::BumpPtrAllocator, llvm::ScopedHashTableVal<Operation *, Operation *>>;
using Table = llvm::ScopedHashTable<Operation *, Operation *, Equality, Allocator>;

/// One walk over the blocks of a region; the table contains the operations that dominate the current one.
class Merger {
public:
  void visit(Operation *op) {
    // Values from outside must not be used inside, so enclosing scopes are not searched.
    if (op->mightHaveTrait<OpTrait::IsIsolatedFromAbove>()) {
      Merger inner;
      inner.visitRegions(op);
    } else {
      visitRegions(op);
    }
  }

private:
  void visitRegions(Operation *op) {
    for (Region &region : op->getRegions()) {
      // Blocks after the first have separate dominators, so each of them is a separate scope.
      bool single = region.hasOneBlock();
      for (Block &block : region) {
        if (single) {
          visitBlock(block);
        } else {
          Merger own;
          own.visitBlock(block);
        }
      }
    }
  }

  void visitBlock(Block &block) {
    Table::ScopeTy scope(table);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      visit(&op);
      if (op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op) || !singleBlocks(op))
        continue;
      if (Operation *known = table.lookup(&op)) {
        op.replaceAllUsesWith(known);
        op.erase();
      } else {
        table.insert(&op, &op);
      }
    }
  }

  static bool singleBlocks(Operation &op) {
    return llvm::all_of(op.getRegions(), [](Region &r) { return r.empty() || r.hasOneBlock(); });
  }

  Table table;
};
} // namespace

void skript::mergeDuplicates(Operation *root) { Merger().visit(root); }

/// The attributes of a function except for its name.
static SmallVector<NamedAttribute> withoutName(Operation *function) {
  SmallVector<NamedAttribute> attributes(function->getAttrDictionary().begin(), function->getAttrDictionary().end());
  llvm::erase_if(attributes, [](NamedAttribute own) { return own.getName() == SymbolTable::getSymbolAttrName(); });
  return attributes;
}

size_t skript::fingerprint(Operation *function) {
  llvm::hash_code code = llvm::hash_value(function->getName().getAsOpaquePointer());
  for (NamedAttribute attribute : withoutName(function))
    code = llvm::hash_combine(code, attribute.getName(), attribute.getValue());
  llvm::DenseMap<Value, size_t> numbers;
  auto define = [&](ValueRange values) {
    for (Value value : values) {
      numbers.try_emplace(value, numbers.size());
      code = llvm::hash_combine(code, value.getType());
    }
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function) {
      code = llvm::hash_combine(code, op->getName(), op->getRawDictionaryAttrs(), op->hashProperties());
      for (Value operand : op->getOperands())
        code = llvm::hash_combine(code, numbers.lookup(operand));
      define(op->getResults());
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        define(block.getArguments());
  });
  return code;
}

bool skript::areEqualFunctions(Operation *left, Operation *right) {
  if (left->getName() != right->getName() || left->getNumRegions() != right->getNumRegions() ||
      withoutName(left) != withoutName(right))
    return false;
  return llvm::all_of(llvm::zip(left->getRegions(), right->getRegions()), [](auto regions) {
    return OperationEquivalence::isRegionEquivalentTo(&std::get<0>(regions), &std::get<1>(regions),
                                                      OperationEquivalence::IgnoreLocations);
  });
}
