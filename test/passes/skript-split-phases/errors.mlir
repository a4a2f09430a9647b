// RUN: skript-opt %s --split-input-file --skript-split-phases | FileCheck %s

// Operations that are not reductions, or have dynamic extents or too many phases, are not split.
// CHECK-LABEL: func.func @map
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#x = affine_map<(i) -> (i floordiv 2)>
#y = affine_map<(i) -> (i)>
func.func @map(%x: memref<4xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @dynamic
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#x = affine_map<(o, k) -> ((o - k + 3) floordiv 2)>
#w = affine_map<(o, k) -> (k)>
#y = affine_map<(o, k) -> (o)>
func.func @dynamic(%x: memref<?xf32>, %w: memref<4xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<?xf32>, memref<4xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @many
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
#x = affine_map<(o, k) -> ((o - k + 10) floordiv 5)>
#w = affine_map<(o, k) -> (k)>
#y = affine_map<(o, k) -> (o)>
func.func @many(%x: memref<6xf32>, %w: memref<10xf32>, %y: memref<20xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<6xf32>, memref<10xf32>) outs(%y : memref<20xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  }
  return
}
