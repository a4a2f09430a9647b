// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=65536 | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Rows divided by their sums: two rows of both arrays are a quarter of the cache.
// CHECK-LABEL: func.func @division
// CHECK:         scf.parallel
// CHECK:           memref.alloca() {{.*}} : memref<2xf32>
// CHECK:           linalg.generic
// CHECK:           linalg.generic
// CHECK:           scf.reduce
// CHECK-NOT:     linalg.generic
func.func @division(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>) {
  %sum = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x1000xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<64x1000xf32>, memref<64xf32>) outs(%y : memref<64x1000xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}
