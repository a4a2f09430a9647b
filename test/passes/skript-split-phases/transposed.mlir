// RUN: skript-opt %s --split-input-file --skript-split-phases --canonicalize | FileCheck %s

// y[o] += x[(o - k + 1) / 2] · w[k], where the division is exact: with o = 2·q + r and k = 2·p + t, two of the four
// pairs of residues contribute, and the guard of the division is gone.
// CHECK:       #[[LINEAR:.+]] = affine_map<(d0, d1) -> (d0 - d1 + {{[12]}})>
// CHECK-LABEL: func.func @line
// CHECK-NOT:     floordiv
// CHECK-DAG:     memref.subview %arg2[0] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2]>>
// CHECK-DAG:     memref.subview %arg1[1] [2] [2] : memref<4xf32> to memref<2xf32, strided<[2], offset: 1>>
// CHECK:         linalg.generic
// CHECK-DAG:     memref.subview %arg2[1] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2], offset: 1>>
// CHECK-DAG:     memref.subview %arg1[0] [2] [2] : memref<4xf32> to memref<2xf32, strided<[2]>>
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
#x = affine_map<(o, k) -> ((o - k + 1) floordiv 2 + 1)>
#w = affine_map<(o, k) -> (k)>
#y = affine_map<(o, k) -> (o)>
#exact = affine_map<()[o, k] -> (-o + k + ((o - k + 1) floordiv 2) * 2 - 1)>
func.func @line(%x: memref<7xf32>, %w: memref<4xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<7xf32>, memref<4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %o = linalg.index 0 : index
    %k = linalg.index 1 : index
    %difference = affine.apply #exact()[%o, %k]
    %is_exact = arith.cmpi sge, %difference, %c0 : index
    %product = arith.mulf %a, %b : f32
    %term = arith.select %is_exact, %product, %zero : f32
    %sum = arith.addf %out, %term : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// Without a guard, all four phases contribute.
// CHECK-LABEL: func.func @all
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT:     linalg.generic
#x = affine_map<(o, k) -> ((o - k + 3) floordiv 2)>
#w = affine_map<(o, k) -> (k)>
#y = affine_map<(o, k) -> (o)>
func.func @all(%x: memref<6xf32>, %w: memref<4xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<6xf32>, memref<4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A stride of 3, and a filter of 2: a phase without positions of the filter does not exist.
// CHECK-LABEL: func.func @three
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
#x = affine_map<(o, k) -> ((o - k) floordiv 3 + 1)>
#w = affine_map<(o, k) -> (k)>
#y = affine_map<(o, k) -> (o)>
#exact = affine_map<()[o, k] -> (-o + k + ((o - k) floordiv 3) * 3)>
func.func @three(%x: memref<5xf32>, %w: memref<2xf32>, %y: memref<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<5xf32>, memref<2xf32>) outs(%y : memref<9xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %o = linalg.index 0 : index
    %k = linalg.index 1 : index
    %difference = affine.apply #exact()[%o, %k]
    %is_exact = arith.cmpi sge, %difference, %c0 : index
    %product = arith.mulf %a, %b : f32
    %term = arith.select %is_exact, %product, %zero : f32
    %sum = arith.addf %out, %term : f32
    linalg.yield %sum : f32
  }
  return
}
