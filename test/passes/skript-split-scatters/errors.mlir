// RUN: skript-opt %s --skript-split-scatters | FileCheck %s

// What stays: sums of reals, whose order counts; short loops; large arrays; loops that use an element before all of it is summed; loops inside
// of loops that threads share; dynamic bounds.
// CHECK-NOT: scf.parallel (%{{.+}}) = (%{{.+}}) to (%c8
// CHECK-LABEL: func.func @reals
func.func @reals(%x: memref<100000xi64>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 100000 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<100000xi64>
    %bin = arith.index_cast %v : i64 to index
    %old = memref.load %y[%bin] : memref<16xf32>
    %new = arith.addf %old, %one : f32
    memref.store %new, %y[%bin] : memref<16xf32>
  }
  return
}

// CHECK-LABEL: func.func @short
func.func @short(%x: memref<1000xi64>, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 1000 : index
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<1000xi64>
    %bin = arith.index_cast %v : i64 to index
    %old = memref.load %y[%bin] : memref<16xi64>
    %new = arith.addi %old, %v : i64
    memref.store %new, %y[%bin] : memref<16xi64>
  }
  return
}

// CHECK-LABEL: func.func @large
func.func @large(%x: memref<100000xi64>, %y: memref<50000xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 100000 : index
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<100000xi64>
    %bin = arith.index_cast %v : i64 to index
    %old = memref.load %y[%bin] : memref<50000xi64>
    %new = arith.addi %old, %v : i64
    memref.store %new, %y[%bin] : memref<50000xi64>
  }
  return
}

// CHECK-LABEL: func.func @ranks
func.func @ranks(%x: memref<100000xi64>, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 100000 : index
  %least = arith.constant 7 : i64
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<100000xi64>
    %bin = arith.index_cast %v : i64 to index
    %old = memref.load %y[%bin] : memref<16xi64>
    %is_less = arith.cmpi slt, %old, %least : i64
    scf.if %is_less {
      %new = arith.addi %old, %v : i64
      memref.store %new, %y[%bin] : memref<16xi64>
    }
  }
  return
}

// CHECK-LABEL: func.func @reads
func.func @reads(%x: memref<100000xi64>, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 100000 : index
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<100000xi64>
    %bin = arith.index_cast %v : i64 to index
    %first = memref.load %y[%c0] : memref<16xi64>
    %old = memref.load %y[%bin] : memref<16xi64>
    %new = arith.addi %old, %first : i64
    memref.store %new, %y[%bin] : memref<16xi64>
  }
  return
}

// CHECK-LABEL: func.func @inside
func.func @inside(%x: memref<100000xi64>, %y: memref<4x16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %end = arith.constant 100000 : index
  scf.parallel (%b) = (%c0) to (%c4) step (%c1) {
    scf.for %i = %c0 to %end step %c1 {
      %v = memref.load %x[%i] : memref<100000xi64>
      %bin = arith.index_cast %v : i64 to index
      %old = memref.load %y[%b, %bin] : memref<4x16xi64>
      %new = arith.addi %old, %v : i64
      memref.store %new, %y[%b, %bin] : memref<4x16xi64>
    }
  }
  return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: memref<?xi64>, %y: memref<16xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = memref.dim %x, %c0 : memref<?xi64>
  scf.for %i = %c0 to %end step %c1 {
    %v = memref.load %x[%i] : memref<?xi64>
    %bin = arith.index_cast %v : i64 to index
    %old = memref.load %y[%bin] : memref<16xi64>
    %new = arith.addi %old, %v : i64
    memref.store %new, %y[%bin] : memref<16xi64>
  }
  return
}
