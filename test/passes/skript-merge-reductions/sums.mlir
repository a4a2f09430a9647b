// RUN: skript-opt %s --split-input-file --skript-merge-reductions --cse | FileCheck %s

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Both sums need the same powers, which are computed once.
// CHECK-LABEL: func.func @weights
// CHECK:         linalg.fill
// CHECK:         linalg.fill
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{.+}} : memref<8x16xf32>) outs(%[[A:.+]], %[[B:.+]] : memref<8xf32>, memref<8xf32>)
// CHECK:           math.exp
// CHECK-NOT:       math.exp
// CHECK:           linalg.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NOT:     linalg.generic
func.func @weights(%x: memref<8x16xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %p = math.exp %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %p = math.exp %v : f32
    %w = arith.mulf %p, %v : f32
    %s = arith.addf %sum, %w : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The first sum is read in between.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-2: linalg.generic
func.func @read(%x: memref<8x16xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %w = arith.mulf %v, %v : f32
    %s = arith.addf %sum, %w : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The operand is written in between.
// CHECK-LABEL: func.func @written
// CHECK-COUNT-2: linalg.generic
func.func @written(%x: memref<8x16xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%x : memref<8x16xf32>)
  linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %s = arith.addf %sum, %v : f32
    linalg.yield %s : f32
  }
  return
}
