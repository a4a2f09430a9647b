// RUN: skript-opt %s --skript-fuse-rows=gpu=vulkan --split-input-file | FileCheck %s
// RUN: skript-opt %s --skript-fuse-rows=gpu=few --split-input-file | FileCheck %s --check-prefix=FEW

// For a GPU a block is one row; what nothing else reads must fit into the memory that threads share.
// CHECK-LABEL: func @centered
// CHECK: scf.parallel (%{{.*}}) = (%c0) to (%c128) step (%c1)
// CHECK: linalg.generic
// CHECK: memref.alloca() {{.*}} : memref<1x300xf32>
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: scf.reduce
// FEW-LABEL: func @centered
// FEW-NOT: memref<1x300xf32>
#row = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> (i)>
func.func @centered(%x: memref<128x300xf32>, %y: memref<128xf32>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %d = memref.alloc() : memref<128x300xf32>
  %s = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<128xf32>)
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<128x300xf32>) outs(%s : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<128x300xf32>, memref<128xf32>) outs(%d : memref<128x300xf32>) {
  ^bb0(%v: f32, %m: f32, %o: f32):
    %n = arith.subf %v, %m : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<128xf32>)
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
      ins(%d : memref<128x300xf32>) outs(%y : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = arith.mulf %v, %v : f32
    %n = arith.addf %o, %q fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Columns: consecutive elements are of different rows, whose threads would access memory far apart.
// CHECK-LABEL: func @columns
// CHECK-NOT: scf.parallel
#column = affine_map<(i, j) -> (j, i)>
#one = affine_map<(i, j) -> (i)>
func.func @columns(%x: memref<300x128xf32>, %s: memref<128xf32>, %y: memref<300x128xf32>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<128xf32>)
  linalg.generic {indexing_maps = [#column, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x128xf32>) outs(%s : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#column, #one, #column], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<300x128xf32>, memref<128xf32>) outs(%y : memref<300x128xf32>) {
  ^bb0(%v: f32, %m: f32, %o: f32):
    %n = arith.subf %v, %m : f32
    linalg.yield %n : f32
  }
  return
}
