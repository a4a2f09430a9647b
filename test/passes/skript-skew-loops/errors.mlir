// No module is refused. These loops remain: rows without a chain, which are computed in vectors; rows that read two elements ahead in the row
// before; short rows; dynamic bounds; two stores; an unknown row.
// RUN: skript-opt %s --skript-skew-loops | FileCheck %s
// CHECK-NOT: step %c4

func.func @columns(%d: memref<65x65xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %i1 = arith.addi %i, %c1 : index
      %above = memref.load %d[%i, %j] : memref<65x65xf32>
      %0 = arith.addf %above, %above : f32
      memref.store %0, %d[%i1, %j] : memref<65x65xf32>
    }
  }
  return
}

func.func @ahead(%d: memref<65x68xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %i1 = arith.addi %i, %c1 : index
      %j1 = arith.addi %j, %c1 : index
      %j3 = arith.addi %j, %c3 : index
      %left = memref.load %d[%i1, %j] : memref<65x68xf32>
      %ahead = memref.load %d[%i, %j3] : memref<65x68xf32>
      %0 = arith.addf %left, %ahead : f32
      memref.store %0, %d[%i1, %j1] : memref<65x68xf32>
    }
  }
  return
}

func.func @short(%d: memref<65x9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %m = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %i1 = arith.addi %i, %c1 : index
      %j1 = arith.addi %j, %c1 : index
      %left = memref.load %d[%i1, %j] : memref<65x9xf32>
      %above = memref.load %d[%i, %j1] : memref<65x9xf32>
      %0 = arith.addf %left, %above : f32
      memref.store %0, %d[%i1, %j1] : memref<65x9xf32>
    }
  }
  return
}

func.func @dynamic(%d: memref<65x65xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %i1 = arith.addi %i, %c1 : index
      %j1 = arith.addi %j, %c1 : index
      %left = memref.load %d[%i1, %j] : memref<65x65xf32>
      %above = memref.load %d[%i, %j1] : memref<65x65xf32>
      %0 = arith.addf %left, %above : f32
      memref.store %0, %d[%i1, %j1] : memref<65x65xf32>
    }
  }
  return
}

func.func @two(%d: memref<65x65xf32>, %e: memref<65x65xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %i1 = arith.addi %i, %c1 : index
      %j1 = arith.addi %j, %c1 : index
      %left = memref.load %d[%i1, %j] : memref<65x65xf32>
      memref.store %left, %d[%i1, %j1] : memref<65x65xf32>
      memref.store %left, %e[%i1, %j1] : memref<65x65xf32>
    }
  }
  return
}

func.func @unknown(%d: memref<65x65xf32>, %at: memref<64xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %i1 = arith.addi %i, %c1 : index
      %j1 = arith.addi %j, %c1 : index
      %row = memref.load %at[%i] : memref<64xindex>
      %left = memref.load %d[%i1, %j] : memref<65x65xf32>
      %other = memref.load %d[%row, %j] : memref<65x65xf32>
      %0 = arith.addf %left, %other : f32
      memref.store %0, %d[%i1, %j1] : memref<65x65xf32>
    }
  }
  return
}
