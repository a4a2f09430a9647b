// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=512})' | FileCheck %s

// The module has a function named kernel_0: the kernel gets another name.
// CHECK-LABEL: func.func private @kernel_0(memref<8xf32>)
// CHECK-LABEL: func.func @sums
// CHECK:         call @kernel_1(
// CHECK-LABEL: func.func private @kernel_1(
func.func private @kernel_0(memref<8xf32>)
func.func @sums(%a: memref<8x256xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x256xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
