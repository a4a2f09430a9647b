// SPDX-License-Identifier: Apache-2.0
//===- Reduction.h - a module that shows a defect is made short -------------===//

#ifndef SKRIPT_REDUCTION_H
#define SKRIPT_REDUCTION_H

namespace skript {

/// The pass `leave-out`: operations of any dialect are left out, also inside of functions, while a test still finds what it
/// looks for. Values of the same type (an operand, what was made before, an argument of a block around, else zeros) take the
/// place of their results. Upstream's `reduction-tree` erases operations that others use, and leaves functions that only its own work made
/// unused.
void registerReduction();

} // namespace skript

#endif // SKRIPT_REDUCTION_H
