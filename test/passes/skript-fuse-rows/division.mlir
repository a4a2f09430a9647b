// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=13200 | FileCheck %s

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
func.func @division(%x: memref<64x200xf32>, %y: memref<64x200xf32>) {
  %sum = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x200xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<64x200xf32>, memref<64xf32>) outs(%y : memref<64x200xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}

// A long row is a block of its own, so that it stays in the nearest cache.
// CHECK-LABEL: func.func @long
// CHECK:         scf.parallel (%[[I:.+]]) =
// CHECK:           memref.alloca() {{.*}} : memref<1xf32>
// CHECK:           memref.subview %{{.+}}[%[[I]], 0] [1, 256] [1, 1]
// CHECK:           scf.reduce
func.func @long(%x: memref<64x256xf32>, %y: memref<64x256xf32>) {
  %sum = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x256xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<64x256xf32>, memref<64xf32>) outs(%y : memref<64x256xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}

// What was in the result before is read after the first write of an array that members alone access: that has a place of its own.
// CHECK-LABEL: func.func @read
// CHECK:         scf.parallel
// CHECK:           %[[E:.+]] = memref.alloca() {{.*}} : memref<1x256xf32>
// CHECK:           linalg.generic {{.*}} outs(%[[E]] :
// CHECK:           scf.reduce
func.func @read(%x: memref<64x256xf32>, %y: memref<64x256xf32>) {
  %sum = memref.alloc() : memref<64xf32>
  %e = memref.alloc() : memref<64x256xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%e : memref<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.mulf %a, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<64x256xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel"]} ins(%e, %sum : memref<64x256xf32>, memref<64xf32>) outs(%y : memref<64x256xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    %w = arith.addf %v, %o : f32
    linalg.yield %w : f32
  }
  return
}
