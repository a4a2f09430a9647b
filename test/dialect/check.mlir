// RUN: skript-opt %s | skript-opt | FileCheck %s
// RUN: skript-opt %s --mlir-print-op-generic | skript-opt | FileCheck %s
// RUN: skript-opt %s --verify-roundtrip -o /dev/null
// RUN: skript-opt %s --canonicalize --cse --symbol-dce | FileCheck %s --check-prefix=KEPT
// RUN: skript-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LOOP

// CHECK-LABEL: func @forms
// CHECK-SAME:    (%[[OK:.+]]: i1, %[[N:.+]]: i64, %[[M:.+]]: i64)
// CHECK-NEXT:    skript.check %[[OK]], "SK9203", "never"
// CHECK-NEXT:    skript.check %[[OK]], "SK9204", "{0} is not {1:real}"(%[[N]], %[[M]])
// CHECK-NEXT:    skript.check %[[OK]], "SK9204", "{{[{][{]}} {0?}{0:bool}{|}{/}"(%[[N]]) status 2
// CHECK-NEXT:    skript.check %[[OK]], "SK9201", "operator mine.sorted: {text}" status 3 {mark}
func.func @forms(%ok: i1, %n: i64, %m: i64) {
  skript.check %ok, "SK9203", "never"
  skript.check %ok, "SK9204", "{0} is not {1:real}"(%n, %m)
  skript.check %ok, "SK9204", "{{ {0?}{0:bool}{|}{/}"(%n) status 2
  skript.check %ok, "SK9201", "operator mine.sorted: {text}" status 3 {mark}
  return
}

// Equal checks are not merged, and checks are not reordered.
// KEPT-LABEL: func @kept
// KEPT-NEXT:    skript.check %{{.*}}, "SK9203", "first"
// KEPT-NEXT:    skript.check %{{.*}}, "SK9203", "second"
// KEPT-NEXT:    skript.check %{{.*}}, "SK9203", "first"
// KEPT-NEXT:    return
func.func @kept(%ok: i1) {
  skript.check %ok, "SK9203", "first"
  skript.check %ok, "SK9203", "second"
  skript.check %ok, "SK9203", "first"
  return
}

// A check of `true` is erased, one of `false` stays.
// KEPT-LABEL: func @constant
// KEPT-NEXT:    %[[FALSE:.+]] = arith.constant false
// KEPT-NEXT:    skript.check %[[FALSE]], "SK9203", "fails"
// KEPT-NEXT:    return
func.func @constant() {
  %true = arith.constant true
  %false = arith.constant false
  skript.check %true, "SK9203", "holds"
  skript.check %false, "SK9203", "fails"
  return
}

// A loop that may have no iterations keeps its check.
// LOOP-LABEL: func @loop
// LOOP:         scf.for
// LOOP-NEXT:      skript.check
func.func @loop(%ok: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    skript.check %ok, "SK9203", "in a loop"
  }
  return
}
