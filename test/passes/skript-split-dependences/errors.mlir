// Loops are kept if their iterations depend on each other in another way or on two iterations, if LLVM knows that they are independent,
// and if a value depends on the index of the iteration. The pass has no options.
// RUN: skript-opt %s --skript-split-dependences | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-split-dependences{all=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option all

// CHECK-LABEL: func.func @kept
// CHECK-COUNT-5: scf.for
// CHECK-NOT:     scf.for
func.func @kept(%x: memref<64xf32>, %y: memref<64xf32>, %k: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // A recurrence.
  scf.for %i = %c1 to %c64 step %c1 {
    %last = arith.subi %i, %c1 : index
    %0 = memref.load %x[%last] : memref<64xf32>
    memref.store %0, %x[%i] : memref<64xf32>
  }
  // Two elements of other iterations.
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%k] : memref<64xf32>
    %1 = memref.load %x[%m] : memref<64xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %x[%i] : memref<64xf32>
  }
  // Independent iterations.
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %y[%k] : memref<64xf32>
    memref.store %0, %x[%i] : memref<64xf32>
  }
  // A view may be of the same elements in another order.
  %view = memref.subview %x[1] [63] [1] : memref<64xf32> to memref<63xf32, strided<[1], offset: 1>>
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %view[%k] : memref<63xf32, strided<[1], offset: 1>>
    memref.store %0, %x[%i] : memref<64xf32>
  }
  // The index is a value.
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%k] : memref<64xf32>
    %integer = arith.index_cast %i : index to i32
    %real = arith.sitofp %integer : i32 to f32
    %1 = arith.addf %0, %real : f32
    memref.store %1, %x[%i] : memref<64xf32>
  }
  return
}
