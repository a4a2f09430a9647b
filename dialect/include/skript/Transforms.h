// SPDX-License-Identifier: Apache-2.0
//===- Transforms.h - transformations with linear time on long graphs -------===//

#ifndef SKRIPT_TRANSFORMS_H
#define SKRIPT_TRANSFORMS_H

#include "skript/Skript.h"

namespace skript {

/// Upper bounds of a fused operation.
struct FusionBounds {
  /// Number of operations in the payload.
  unsigned operations;
  /// Number of tensors that are read.
  unsigned inputs;
  /// Whether reductions are left unchanged.
  bool mapsOnly = false;
};

/// Fuses elementwise `linalg.generic` ops below `root` into their only users, as the upstream pass does, but never past
/// the bounds. Each fusion clones the payloads of both ops, so a long chain would take quadratic time without bounds.
mlir::LogicalResult fuseElementwise(mlir::Operation *root, FusionBounds bounds);

/// Moves elementwise `linalg.generic` ops below `root` into the payloads of their users, if these read each element once: into
/// the only user if it is a reduction, or into all users if an element costs only a few operations.
mlir::LogicalResult computeInUsers(mlir::Operation *root, FusionBounds bounds);

/// Replaces operations without memory effects by equal ones that dominate them, and erases unused ones. Upstream `cse`
/// does not hash regions. Formulas of one kind often differ only in their regions, so they would share a bucket. This hash
/// includes the regions.
void mergeDuplicates(mlir::Operation *root);

/// Returns a hash of a function without its name and locations. Equal functions have equal hashes, except functions that differ in
/// the order of operands of a commutative operation. The hash differs between processes.
size_t fingerprint(mlir::Operation *function);

/// Whether two functions are equal except for their names and locations.
bool areEqualFunctions(mlir::Operation *left, mlir::Operation *right);

/// Inserts ops that compute a tile of an unordered formula, before the formula. Returns the contents of `destinations` after
/// the steps that `offsets` and `sizes` select. Without `guarded`, the predicate is omitted: it must hold in the whole tile.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> computePart(FormulaOp formula, mlir::ValueRange destinations,
                                                            llvm::ArrayRef<int64_t> offsets,
                                                            llvm::ArrayRef<int64_t> sizes, bool guarded);

} // namespace skript

#endif // SKRIPT_TRANSFORMS_H
