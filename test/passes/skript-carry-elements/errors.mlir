// Loops are kept if elements may be the same, are at positions that vary, may be out of bounds in a step that does not access them, or
// if the loop may have no steps. The pass has no options.
// RUN: skript-opt %s --skript-carry-elements | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-carry-elements{all=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option all

// CHECK-LABEL: func.func @kept
// CHECK-NOT:     iter_args
// CHECK-NOT:     scf.while
func.func @kept(%x: memref<64xf32>, %i: index, %j: index, %n: index, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  // Positions i and j may be equal.
  scf.for %s = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%i] : memref<64xf32>
    memref.store %0, %x[%j] : memref<64xf32>
  }
  // The position varies.
  scf.for %s = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%s] : memref<64xf32>
    memref.store %0, %x[%s] : memref<64xf32>
  }
  // The position may be out of bounds if the flag is false.
  scf.for %s = %c0 to %c64 step %c1 {
    scf.if %flag {
      memref.store %zero, %x[%i] : memref<64xf32>
    }
  }
  // No steps.
  scf.for %s = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<64xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %x[%i] : memref<64xf32>
  }
  return
}
