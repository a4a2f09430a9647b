// Narrow elements are widened when they are loaded; sums with narrow accumulators are not changed.
// RUN: skript-opt %s --split-input-file --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=512})' | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK-NOT:     linalg.generic
// CHECK:       arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
func.func @product(%a: memref<64x256xf16>, %x: memref<256x48xf16>, %y: memref<64x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, l) -> (i, l)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %x : memref<64x256xf16>, memref<256x48xf16>) outs(%y : memref<64x48xf32>) {
  ^bb0(%p: f16, %q: f16, %acc: f32):
    %u = arith.extf %p : f16 to f32
    %v = arith.extf %q : f16 to f32
    %m = arith.mulf %u, %v fastmath<contract> : f32
    %s = arith.addf %acc, %m fastmath<reassoc, contract> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @sum
// CHECK:         linalg.generic
func.func @sum(%a: memref<64x256xf16>, %y: memref<64xf16>) {
  linalg.generic {indexing_maps = [affine_map<(i, l) -> (i, l)>, affine_map<(i, l) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<64x256xf16>) outs(%y : memref<64xf16>) {
  ^bb0(%p: f16, %acc: f16):
    %s = arith.addf %acc, %p fastmath<reassoc> : f16
    linalg.yield %s : f16
  }
  return
}
