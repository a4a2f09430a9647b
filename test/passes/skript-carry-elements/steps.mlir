// Elements that each step changes are loop-carried values. A loop whose stores all depend on a condition of them ends when it is false.
// RUN: skript-opt %s --split-input-file --skript-carry-elements | FileCheck %s

// CHECK-LABEL: func.func @orbit
// CHECK-SAME:    %[[Z:.+]]: memref<16x2xf32>
// CHECK:         scf.for %[[I:.+]] = %c0 to %c16
// CHECK-DAG:       %[[U:.+]] = memref.load %[[Z]][%[[I]], %c0]
// CHECK-DAG:       %[[N:.+]] = memref.load %[[Z]][%[[I]], %c1]
// CHECK:           %[[END:.+]]:3 = scf.while (%[[S:.+]] = %c0, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}})
// CHECK-NOT:         memref
// CHECK-DAG:         %[[RUNS:.+]] = arith.cmpi slt, %[[S]], %c64
// CHECK-DAG:         %[[SMALL:.+]] = arith.cmpf ole
// CHECK:             %[[GOES:.+]] = arith.andi %[[RUNS]], %[[SMALL]]
// CHECK:             scf.condition(%[[GOES]])
// CHECK:           } do {
// CHECK-NOT:         memref
// CHECK:             arith.addi
// CHECK:             scf.yield
// CHECK-COUNT-2:   memref.store %[[END]]
func.func @orbit(%z: memref<16x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %four = arith.constant 4.0 : f32
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %s = %c0 to %c64 step %c1 {
      %u = memref.load %z[%i, %c0] : memref<16x2xf32>
      %square = arith.mulf %u, %u : f32
      %small = arith.cmpf ole, %square, %four : f32
      scf.if %small {
        %next = arith.addf %square, %one : f32
        %count = memref.load %z[%i, %c1] : memref<16x2xf32>
        %more = arith.addf %count, %one : f32
        memref.store %next, %z[%i, %c0] : memref<16x2xf32>
        memref.store %more, %z[%i, %c1] : memref<16x2xf32>
      }
    }
  }
  return
}

// -----

// The condition varies with the step, so all steps are executed.
// CHECK-LABEL: func.func @every_step
// CHECK:         %[[FIRST:.+]] = memref.load
// CHECK:         %[[LAST:.+]] = scf.for {{.*}} iter_args(%[[BEFORE:.+]] = %[[FIRST]])
// CHECK:           memref.load %{{.+}}[%{{.+}}] : memref<64xi1>
// CHECK:           %[[AFTER:.+]] = scf.if {{.*}} -> (f32) {
// CHECK:             %[[SUM:.+]] = arith.addf %[[BEFORE]]
// CHECK:             scf.yield %[[SUM]]
// CHECK:           } else {
// CHECK:             scf.yield %[[BEFORE]]
// CHECK:           scf.yield %[[AFTER]]
// CHECK:         memref.store %[[LAST]]
func.func @every_step(%y: memref<f32>, %flags: memref<64xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  scf.for %s = %c0 to %c64 step %c1 {
    %before = memref.load %y[] : memref<f32>
    %flag = memref.load %flags[%s] : memref<64xi1>
    scf.if %flag {
      %after = arith.addf %before, %one : f32
      memref.store %after, %y[] : memref<f32>
    }
  }
  return
}
