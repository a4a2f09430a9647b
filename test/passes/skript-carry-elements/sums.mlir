// A sum over two dimensions is carried through both loops, if the option allows it.
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-carry-elements{nested=true})' --split-input-file | FileCheck %s
// RUN: skript-opt %s --skript-carry-elements --split-input-file | FileCheck %s --check-prefix=INNER

// INNER-LABEL: func.func @sum
// INNER:         scf.for
// INNER-NEXT:      scf.for
// INNER-NEXT:        memref.load
// INNER-NEXT:        scf.for {{.*}} iter_args

// CHECK-LABEL: func.func @sum
// CHECK-SAME:    %[[X:[^:]+]]: memref<4x5x6xf32>, %[[Y:[^:]+]]: memref<4xf32>
// CHECK:         scf.for %[[I:.+]] = %c0 to %c4
// CHECK-NEXT:      %[[FIRST:.+]] = memref.load %[[Y]][%[[I]]]
// CHECK-NEXT:      %[[SUM:.+]] = scf.for {{.*}} iter_args(%[[OUTER:[^ ]+]] = %[[FIRST]])
// CHECK-NEXT:        %[[ROW:.+]] = scf.for {{.*}} iter_args(%[[ACC:[^ ]+]] = %[[OUTER]])
// CHECK-NEXT:          %[[TERM:.+]] = memref.load %[[X]]
// CHECK-NEXT:          %[[NEXT:.+]] = arith.addf %[[ACC]], %[[TERM]]
// CHECK-NEXT:          scf.yield %[[NEXT]]
// CHECK:             scf.yield %[[ROW]]
// CHECK:           memref.store %[[SUM]], %[[Y]][%[[I]]]
func.func @sum(%x: memref<4x5x6xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      scf.for %k = %c0 to %c6 step %c1 {
        %sum = memref.load %y[%i] : memref<4xf32>
        %term = memref.load %x[%i, %j, %k] : memref<4x5x6xf32>
        %next = arith.addf %sum, %term : f32
        memref.store %next, %y[%i] : memref<4xf32>
      }
    }
  }
  return
}

// -----

// The inner loop reads the array that the outer one changes.
// CHECK-LABEL: func.func @read_inside
// CHECK:         scf.for {{.*}} step %c1 {
// CHECK:           scf.for {{.*}} iter_args
// CHECK:           memref.store
func.func @read_inside(%y: memref<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  scf.for %j = %c0 to %c5 step %c1 {
    %first = memref.load %y[%c0] : memref<6xf32>
    %sum = scf.for %k = %c0 to %c6 step %c1 iter_args(%s = %first) -> f32 {
      %term = memref.load %y[%k] : memref<6xf32>
      %next = arith.addf %s, %term : f32
      scf.yield %next : f32
    }
    memref.store %sum, %y[%c0] : memref<6xf32>
  }
  return
}
