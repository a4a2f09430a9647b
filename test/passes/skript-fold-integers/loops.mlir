// RUN: skript-opt %s --skript-fold-integers | FileCheck %s

// Loops one after the other: folding the first erases operations that a walk over all operations would meet again.
// CHECK-LABEL: func.func @two
// CHECK-NOT:     math.ipowi
// CHECK:         scf.for
// CHECK:           arith.shli
// CHECK-NOT:     math.ipowi
// CHECK:         scf.for
// CHECK:           arith.shli
// CHECK-NOT:     math.ipowi
func.func @two(%x: memref<8xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %two = arith.constant 2 : i64
  scf.for %i = %c0 to %c8 step %c1 {
    %k = arith.index_cast %i : index to i64
    %p = math.ipowi %two, %k : i64
    memref.store %p, %x[%i] : memref<8xi64>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %k = arith.index_cast %i : index to i64
    %p = math.ipowi %two, %k : i64
    memref.store %p, %x[%i] : memref<8xi64>
  }
  return
}
