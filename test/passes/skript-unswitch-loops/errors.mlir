// Conditions that vary along the loop, or that read memory which the loop may write, are tested in each iteration; so are those of outer
// loops. The pass has no options.
// RUN: skript-opt %s --skript-unswitch-loops | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-unswitch-loops{all=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option all

// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: scf.for
// CHECK-NOT:     scf.for
func.func @kept(%x: memref<64xf32>, %flags: memref<64xi1>, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  // The condition varies.
  scf.for %i = %c0 to %c64 step %c1 {
    %varies = arith.cmpi slt, %i, %c2 : index
    scf.if %varies {
      memref.store %zero, %x[%i] : memref<64xf32>
    }
  }
  // The condition is read from memory.
  scf.for %i = %c0 to %c64 step %c1 {
    %read = memref.load %flags[%c0] : memref<64xi1>
    scf.if %read {
      memref.store %flag, %flags[%i] : memref<64xi1>
    }
  }
  // The outer loop is not innermost, the inner one is too short.
  scf.for %i = %c0 to %c64 step %c1 {
    scf.if %flag {
      memref.store %zero, %x[%i] : memref<64xf32>
    }
    scf.for %j = %c0 to %c2 step %c1 {
      scf.if %flag {
        memref.store %zero, %x[%j] : memref<64xf32>
      }
    }
  }
  return
}
