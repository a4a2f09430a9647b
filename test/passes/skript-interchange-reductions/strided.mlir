// Inputs with short strides along the row, as those of a window with a stride are, if the option allows them.
// RUN: skript-opt %s --skript-interchange-reductions | FileCheck %s --check-prefix=KEPT
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-interchange-reductions{longest-stride=2})' | FileCheck %s

// KEPT-COUNT-2: iterator_types = ["parallel", "reduction"]

// CHECK-LABEL: func.func @window
// CHECK:         iterator_types = ["reduction", "parallel"]
func.func @window(%x: memref<35xf32>, %w: memref<3xf32>, %y: memref<16xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i * 2 + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x, %w : memref<35xf32>, memref<3xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// A longer stride keeps the order.
// CHECK-LABEL: func.func @columns
// CHECK:         iterator_types = ["parallel", "reduction"]
func.func @columns(%x: memref<16x5xf32>, %y: memref<16xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<16x5xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
