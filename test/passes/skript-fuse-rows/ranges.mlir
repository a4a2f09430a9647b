// RUN: skript-opt %s --skript-fuse-rows=gpu=sm_80 | FileCheck %s

// What is in one array one after the other, as two centered rows here, has arrays of its own: each is in the memory of a block.
// CHECK-LABEL: func @twice
// CHECK-NOT: memref.alloc()
// CHECK: scf.parallel
// CHECK: memref.alloca() {{.*}} : memref<1x300xf32>
// CHECK: scf.parallel
// CHECK: memref.alloca() {{.*}} : memref<1x300xf32>
#row = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> (i)>
func.func @twice(%x: memref<128x300xf32>, %y: memref<128xf32>, %z: memref<64x300xf32>, %w: memref<128xf32>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %d = memref.alloc() : memref<128x300xf32>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x300xf32>) outs(%d : memref<128x300xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.mulf %v, %two : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<128xf32>)
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
      ins(%d : memref<128x300xf32>) outs(%y : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x300xf32>) outs(%d : memref<128x300xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.subf %v, %two : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%w : memref<128xf32>)
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
      ins(%d : memref<128x300xf32>) outs(%w : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  return
}
