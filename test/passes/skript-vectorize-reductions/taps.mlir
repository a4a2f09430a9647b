// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=128},canonicalize,cse)' | FileCheck %s

// Neighbouring taps of a window in steps of two select from the same two vectors; the third tap has its own.
// CHECK-LABEL: func.func private @kernel_0
// CHECK:         %[[Y:.+]] = memref.reinterpret_cast %arg2
// CHECK-COUNT-2: vector.load %[[Y]]
// CHECK:         %[[A:.+]] = vector.load %[[X:.+]][%c0]
// CHECK:         %[[EVEN:.+]] = vector.shuffle %[[A]], %[[A]] [0, 2, 0, 0]
// CHECK:         %[[B:.+]] = vector.load %[[X]][%c4]
// CHECK:         vector.shuffle %[[EVEN]], %[[B]] [0, 1, 4, 6]
// CHECK-COUNT-2: vector.load %[[X]]
// CHECK-NOT:     vector.load
// CHECK:         %[[ODD:.+]] = vector.shuffle %[[A]], %[[A]] [1, 3, 0, 0]
// CHECK:         vector.shuffle %[[ODD]], %[[B]] [0, 1, 5, 7]
// CHECK:         vector.load %[[X]][%c2]
// CHECK:         vector.load %[[X]][%c5]
// CHECK:         return
func.func @window(%x: memref<2x9xf32>, %w: memref<3xf32>, %y: memref<2x4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(c, i, k) -> (c, 2 * i + k)>, affine_map<(c, i, k) -> (k)>, affine_map<(c, i, k) -> (c, i)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<2x9xf32>, memref<3xf32>) outs(%y : memref<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
