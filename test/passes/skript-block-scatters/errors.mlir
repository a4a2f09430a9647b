// No module is refused. These loops remain: positions that take few operations, positions that do not follow from data, short loops, and positions
// that follow from the changed elements.
// RUN: skript-opt %s --skript-block-scatters | FileCheck %s
// CHECK-NOT: memref.alloca

func.func @few(%x: memref<1000xi64>, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000 : index
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<1000xi64>
    %bin = arith.index_cast %v : i64 to index
    %old = memref.load %y[%bin] : memref<16xi64>
    %new = arith.addi %old, %one : i64
    memref.store %new, %y[%bin] : memref<16xi64>
  }
  return
}

func.func @known(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000 : index
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<1000xf32>
    %0 = arith.mulf %v, %v : f32
    %1 = arith.mulf %0, %v : f32
    %2 = arith.mulf %1, %v : f32
    %3 = arith.mulf %2, %v : f32
    %4 = arith.mulf %3, %v : f32
    %5 = arith.mulf %4, %v : f32
    %old = memref.load %y[%i] : memref<1000xf32>
    %new = arith.addf %old, %5 : f32
    memref.store %new, %y[%i] : memref<1000xf32>
  }
  return
}

func.func @short(%x: memref<40xi64>, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 40 : index
  %three = arith.constant 3 : i64
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<40xi64>
    %0 = arith.muli %v, %three : i64
    %1 = arith.addi %0, %v : i64
    %2 = arith.muli %1, %three : i64
    %3 = arith.addi %2, %v : i64
    %4 = arith.muli %3, %three : i64
    %bin = arith.index_cast %4 : i64 to index
    %old = memref.load %y[%bin] : memref<16xi64>
    %new = arith.addi %old, %three : i64
    memref.store %new, %y[%bin] : memref<16xi64>
  }
  return
}

func.func @own(%y: memref<1000xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000 : index
  %three = arith.constant 3 : i64
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %y[%i] : memref<1000xi64>
    %0 = arith.muli %v, %three : i64
    %1 = arith.addi %0, %v : i64
    %2 = arith.muli %1, %three : i64
    %3 = arith.addi %2, %v : i64
    %4 = arith.muli %3, %three : i64
    %bin = arith.index_cast %4 : i64 to index
    memref.store %three, %y[%bin] : memref<1000xi64>
  }
  return
}
