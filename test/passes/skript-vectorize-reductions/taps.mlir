// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=128},canonicalize,cse)' | FileCheck %s

// Neighbouring taps of a window in steps of two select from the same two vectors; the third tap has its own.
// CHECK-LABEL: func.func private @kernel_0
// CHECK:         %[[A:.+]] = vector.load
// CHECK:         %[[HALF:.+]] = vector.shuffle %[[A]], %[[A]] [0, 2, 0, 0]
// CHECK:         %[[B:.+]] = vector.load
// CHECK:         vector.shuffle %[[HALF]], %[[B]] [0, 1, 4, 6]
// CHECK:         arith.mulf
// CHECK:         %[[ODD:.+]] = vector.shuffle %[[A]], %[[A]] [1, 3, 0, 0]
// CHECK-NOT:     vector.load
// CHECK:         vector.shuffle %[[ODD]], %[[B]] [0, 1, 5, 7]
// CHECK:         arith.mulf
// CHECK:         vector.load
// CHECK:         return
func.func @window(%x: memref<8x33xf32>, %w: memref<3xf32>, %y: memref<8x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(c, i, k) -> (c, 2 * i + k)>, affine_map<(c, i, k) -> (k)>, affine_map<(c, i, k) -> (c, i)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<8x33xf32>, memref<3xf32>) outs(%y : memref<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
