// RUN: skript-opt %s --skript-share-loops | FileCheck %s

// Equal loops are one function.
// CHECK-LABEL: func.func @twice
// CHECK:         call @loop_0(%arg0, %arg1
// CHECK:         call @loop_0(%arg1, %arg2
// CHECK:         call @loop_{{[1-9]}}(%arg2, %arg3
// CHECK-COUNT-2: func.func private @loop_
// CHECK-NOT:     func.func private @loop_
func.func @twice(%x: memref<1048576xf32>, %y: memref<1048576xf32>, %z: memref<1048576xf32>, %other: memref<1048576xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1048576 : index
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    %a = memref.load %x[%i] : memref<1048576xf32>
    %b = math.exp %a : f32
    memref.store %b, %y[%i] : memref<1048576xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    %a = memref.load %y[%i] : memref<1048576xf32>
    %b = math.exp %a : f32
    memref.store %b, %z[%i] : memref<1048576xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    %a = memref.load %z[%i] : memref<1048576xf32>
    %b = math.tanh %a : f32
    memref.store %b, %other[%i] : memref<1048576xf32>
    scf.reduce
  }
  return
}
