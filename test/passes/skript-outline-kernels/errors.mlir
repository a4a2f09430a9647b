// RUN: not skript-opt %s --skript-outline-kernels --split-input-file 2>&1 | FileCheck %s
// RUN: not skript-opt %s --skript-outline-kernels=block=0 2>&1 | FileCheck %s --check-prefix=BLOCK

// BLOCK: a block has 1 to 1024 threads
// CHECK: is not a loop
func.func @fill(%x: memref<4xf32>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<4xf32>)
  return
}

// -----

// CHECK: is not a one-dimensional launch
func.func @plane() attributes {skript.entry} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}
