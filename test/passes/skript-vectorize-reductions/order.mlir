// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=512 keep-order=true})' | FileCheck %s
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=512})' | FileCheck %s --check-prefix=FREE

// A sum in order has no lanes of its own. Sums that are neighbours in memory do, each in order.
// CHECK-LABEL: func.func @row_sum
// CHECK:         linalg.generic
// FREE-LABEL:  func.func @row_sum
// FREE:          call @
func.func @row_sum(%a: memref<4096xf32>, %sum: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]} ins(%a : memref<4096xf32>) outs(%sum : memref<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @column_sums
// CHECK:         call @
func.func @column_sums(%a: memref<8x16xf32>, %sums: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x16xf32>) outs(%sums : memref<16xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s : f32
  }
  return
}

// The maximum does not depend on the order.
// CHECK-LABEL: func.func @row_maximum
// CHECK:         call @
func.func @row_maximum(%a: memref<4096xf32>, %maximum: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]} ins(%a : memref<4096xf32>) outs(%maximum : memref<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.maximumf %acc, %x : f32
    linalg.yield %s : f32
  }
  return
}
