// RUN: not skript-opt %s --split-input-file --skript-outline-parts=most=1 2>&1 | FileCheck %s
// RUN: not skript-opt %s --skript-outline-parts=most=0 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: option most is 0: a part has at least one operation

// CHECK: the entry is not one block
func.func @branches(%x: i1) attributes {skript.entry} {
  cf.cond_br %x, ^bb1, ^bb2
^bb1:
  return
^bb2:
  return
}
