// RUN: not skript-opt %s --skript-outline-kernels 2>&1 | FileCheck %s
// RUN: not skript-opt %s --skript-outline-kernels=block=0 2>&1 | FileCheck %s --check-prefix=BLOCK

// BLOCK: a block has 1 to 1024 threads
// CHECK: is no loop
func.func @fill(%x: memref<4xf32>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<4xf32>)
  return
}
