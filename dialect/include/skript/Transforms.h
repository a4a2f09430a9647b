// SPDX-License-Identifier: Apache-2.0
//===- Transforms.h - transformations that stay linear on long graphs -------===//

#ifndef SKRIPT_TRANSFORMS_H
#define SKRIPT_TRANSFORMS_H

#include "skript/Skript.h"

namespace skript {

/// Bounds of what one fused operation may become.
struct FusionBounds {
  /// Operations of the payload.
  unsigned operations;
  /// Tensors that are read.
  unsigned inputs;
  /// Whether operations that reduce stay as they are.
  bool mapsOnly = false;
};

/// Fuses elementwise `linalg.generic` ops below `root` into their only users, as upstream's pass does, but never past
/// the bounds: each operation is then copied a bounded number of times, however long the chain.
mlir::LogicalResult fuseElementwise(mlir::Operation *root, FusionBounds bounds);

/// Computes elementwise `linalg.generic` ops below `root` in the payloads of what reads each of their elements once: their
/// only user, if it reduces, or all of them, where the element takes a few operations.
mlir::LogicalResult computeInUsers(mlir::Operation *root, FusionBounds bounds);

/// Replaces operations without memory effects by equal ones that dominate them, and erases those that nothing uses.
/// Upstream's `cse` hashes operands alone, and formulas of one kind differ in what their regions capture: all of them
/// share a bucket. Here what regions hold is part of the hash.
void mergeDuplicates(mlir::Operation *root);

/// A part of a formula that is free of order, in front of it: what `destinations` hold when its steps from `offsets` on, as
/// many as `sizes` say, are taken. Without `guarded` its predicate, which holds there, is not asked.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> computePart(FormulaOp formula, mlir::ValueRange destinations,
                                                            llvm::ArrayRef<int64_t> offsets,
                                                            llvm::ArrayRef<int64_t> sizes, bool guarded);

} // namespace skript

#endif // SKRIPT_TRANSFORMS_H
