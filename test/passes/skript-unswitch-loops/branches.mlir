// The branch of a choice that does not vary along the innermost loop moves out of it; each version has the operations of one branch.
// RUN: skript-opt %s --split-input-file --skript-unswitch-loops | FileCheck %s

// CHECK-LABEL: func.func @substitution
// CHECK-SAME:    %[[L:.+]]: memref<64x64xf32>, %[[X:.+]]: memref<64x32xf32>
// CHECK:         scf.for %[[I:.+]] = %{{.+}} to
// CHECK:           scf.for %[[J:.+]] = %{{.+}} to
// CHECK-NEXT:        %[[BEFORE:.+]] = arith.cmpi slt, %[[J]], %[[I]]
// CHECK-NEXT:        scf.if %[[BEFORE]] {
// CHECK-NEXT:          scf.for %[[R:.+]] = %{{.+}} to
// CHECK-NOT:             scf.if
// CHECK-NOT:             arith.divf
// CHECK:                 arith.mulf
// CHECK:                 memref.store %{{.+}}, %[[X]][%[[I]], %[[R]]]
// CHECK:               } else {
// CHECK-NEXT:          scf.for
// CHECK-NOT:             scf.if
// CHECK-NOT:             arith.mulf
// CHECK:                 arith.divf
func.func @substitution(%l: memref<64x64xf32>, %x: memref<64x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      scf.for %r = %c0 to %c32 step %c1 {
        %before = arith.cmpi slt, %j, %i : index
        %value = scf.if %before -> (f32) {
          %a = memref.load %l[%i, %j] : memref<64x64xf32>
          %b = memref.load %x[%j, %r] : memref<64x32xf32>
          %p = arith.mulf %a, %b : f32
          scf.yield %p : f32
        } else {
          %a = memref.load %x[%i, %r] : memref<64x32xf32>
          %b = memref.load %l[%i, %i] : memref<64x64xf32>
          %q = arith.divf %a, %b : f32
          scf.yield %q : f32
        }
        memref.store %value, %x[%i, %r] : memref<64x32xf32>
      }
    }
  }
  return
}

// -----

// A loop with loop-carried values, and a branch without `else`.
// CHECK-LABEL: func.func @carried
// CHECK-SAME:    %[[FLAG:.+]]: i1
// CHECK:         %[[RESULT:.+]] = scf.if %[[FLAG]] -> (f32) {
// CHECK:           %[[SUM:.+]] = scf.for
// CHECK:             memref.store
// CHECK:           scf.yield %[[SUM]] : f32
// CHECK:         } else {
// CHECK:           scf.for
// CHECK-NOT:         memref.store
// CHECK:         return %[[RESULT]]
func.func @carried(%flag: i1, %x: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%before = %zero) -> (f32) {
    %element = memref.load %x[%i] : memref<?xf32>
    scf.if %flag {
      memref.store %zero, %x[%i] : memref<?xf32>
    }
    %after = arith.addf %before, %element : f32
    scf.yield %after : f32
  }
  return %sum : f32
}
