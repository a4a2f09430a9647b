// SPDX-License-Identifier: Apache-2.0
//===- Reduction.h - reduction of modules that show a defect ----------------===//

#ifndef SKRIPT_REDUCTION_H
#define SKRIPT_REDUCTION_H

namespace skript {

/// The pass `leave-out`: erases operations of any dialect, also inside functions, while a test still finds the module
/// interesting. Values of the same type (an operand, an earlier result, an argument of an enclosing block, else zeros) replace
/// their results. The upstream pass `reduction-tree` erases operations that have uses, and keeps functions that become unused.
void registerReduction();

} // namespace skript

#endif // SKRIPT_REDUCTION_H
