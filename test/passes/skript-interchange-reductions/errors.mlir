// Only reductions over buffers are changed; the pass has no other options.
// RUN: skript-opt %s --skript-interchange-reductions | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-interchange-reductions{all=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option all

// CHECK-LABEL: func.func @scalar
// CHECK:         iterator_types = ["reduction"]
// CHECK:         iterator_types = []
func.func @scalar(%x: memref<?xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<?xf32>) outs(%y : memref<f32>) {
  ^bb0(%p: f32, %acc: f32):
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%y : memref<f32>) {
  ^bb0(%acc: f32):
    %s = arith.addf %acc, %acc : f32
    linalg.yield %s : f32
  }
  return
}
