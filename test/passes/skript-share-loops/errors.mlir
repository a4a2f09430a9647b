// RUN: skript-opt %s --skript-share-loops | FileCheck %s

// Loops that do not begin at 0, and those with results, stay.
// CHECK-LABEL: func.func @offset
// CHECK:         scf.parallel
func.func @offset(%x: memref<1048576xf32>) {
  %c1 = arith.constant 1 : index
  %end = arith.constant 1048576 : index
  scf.parallel (%i) = (%c1) to (%end) step (%c1) {
    %a = memref.load %x[%i] : memref<1048576xf32>
    %b = math.exp %a : f32
    memref.store %b, %x[%i] : memref<1048576xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @sum
// CHECK:         scf.parallel
func.func @sum(%x: memref<1048576xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %end = arith.constant 1048576 : index
  %sum = scf.parallel (%i) = (%c0) to (%end) step (%c1) init (%zero) -> f32 {
    %a = memref.load %x[%i] : memref<1048576xf32>
    scf.reduce(%a : f32) {
    ^bb0(%left: f32, %right: f32):
      %added = arith.addf %left, %right : f32
      scf.reduce.return %added : f32
    }
  }
  return %sum : f32
}
// CHECK-NOT: loop_0
