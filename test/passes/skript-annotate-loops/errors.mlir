// RUN: skript-opt %s --skript-annotate-loops | FileCheck %s

// No module is refused: the pass ignores loops in functions of other dialects.
// CHECK-LABEL: func.func @structured
// CHECK-NOT:     loop_annotation
func.func @structured(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}
