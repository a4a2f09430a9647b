// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-vectorize-reductions{vector-bits=128})' | FileCheck %s

// One vector of sums stays in a register while the loop goes down the rows.
// CHECK-LABEL: func.func @column_sums
// CHECK-NEXT:    call @[[KERNEL:.+]](%{{.+}}, %{{.+}}) :
// CHECK:       func.func private @[[KERNEL]]
// CHECK:         %[[START:.+]] = vector.load
// CHECK:         %[[SUMS:.+]] = scf.for {{.*}} iter_args(%[[ACC:.+]] = %[[START]]) -> (vector<4xf32>)
// CHECK:           %[[ROW:.+]] = vector.load
// CHECK:           %[[NEXT:.+]] = arith.addf %[[ACC]], %[[ROW]] : vector<4xf32>
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         vector.store %[[SUMS]]
func.func @column_sums(%a: memref<8x4xf32>, %sums: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x4xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s : f32
  }
  return
}
