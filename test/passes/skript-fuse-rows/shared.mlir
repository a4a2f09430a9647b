// RUN: skript-opt %s --skript-fuse-rows=gpu=vulkan --split-input-file | FileCheck %s

// For a GPU a block is one row; what nothing else reads must fit into the memory that threads share.
// CHECK-LABEL: func @centered
// CHECK: scf.parallel (%{{.*}}) = (%c0) to (%c128) step (%c1)
// CHECK: linalg.generic
// CHECK: memref.alloca() {{.*}} : memref<1x300xf32>
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: scf.reduce
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

// Arrays that do not fit remain in device memory.
// CHECK-LABEL: func @long
// CHECK-NOT: memref<1x3000xf32>
#row = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> (i)>
func.func @long(%x: memref<128x3000xf32>, %y: memref<128xf32>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %d = memref.alloc() : memref<128x3000xf32>
  %s = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<128xf32>)
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<128x3000xf32>) outs(%s : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<128x3000xf32>, memref<128xf32>) outs(%d : memref<128x3000xf32>) {
  ^bb0(%v: f32, %m: f32, %o: f32):
    %n = arith.subf %v, %m : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<128xf32>)
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]}
      ins(%d : memref<128x3000xf32>) outs(%y : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = arith.mulf %v, %v : f32
    %n = arith.addf %o, %q fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  return
}


// -----

// An attention: a block has 32 rows of scores, in an array of its own, and both products; the last one has fewer rows. The position of a row is
// that in its block plus that of the block.
// CHECK-LABEL: func @attention
// CHECK: scf.parallel (%[[HEAD:.*]], %[[BLOCK:.*]]) = (%c0, %c0) to (%c4, %c4{{.*}}) step (%c1, %c1)
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c32
// CHECK: arith.minsi
// CHECK: memref.alloca() {{.*}} : memref<1x32x40xf32>
// CHECK: memref.subview %{{.*}}[0, 0, 0] [1, %{{.*}}, 40] [1, 1, 1] : memref<1x32x40xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[OWN:.*]] = linalg.index 1
// CHECK: arith.addi %[[OWN]], %[[FIRST]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: scf.reduce
#q = affine_map<(h, i, j, k) -> (h, i, k)>
#k = affine_map<(h, i, j, k) -> (h, j, k)>
#v = affine_map<(h, i, j, k) -> (h, k, j)>
#s = affine_map<(h, i, j, k) -> (h, i, j)>
#all = affine_map<(h, i, j) -> (h, i, j)>
#of = affine_map<(h, i, j) -> (h, i)>
func.func @attention(%q: memref<4x100x16xf32>, %k: memref<4x40x16xf32>, %v: memref<4x40x8xf32>, %y: memref<4x100x8xf32>)
    attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<4x100x40xf32>
  %m = memref.alloc() : memref<4x100xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<4x100x40xf32>)
  linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<4x100x16xf32>, memref<4x40x16xf32>) outs(%s : memref<4x100x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : memref<4x100x40xf32>) outs(%s : memref<4x100x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %before = arith.cmpi ule, %j, %i : index
    %n = arith.select %before, %a, %zero : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%m : memref<4x100xf32>)
  linalg.generic {indexing_maps = [#all, #of], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : memref<4x100x40xf32>) outs(%m : memref<4x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #of, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<4x100x40xf32>, memref<4x100xf32>) outs(%s : memref<4x100x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<4x100x8xf32>)
  linalg.generic {indexing_maps = [#q, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %v : memref<4x100x40xf32>, memref<4x40x8xf32>) outs(%y : memref<4x100x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
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
