// RUN: skript-opt %s --skript-fuse-rows=gpu=sm_80 --split-input-file | FileCheck %s

// Rows of 4,000 scores do not fit into shared memory: a block has 32 columns at a time, the maximum of the columns so far, and two sums that belong to
// it. They are multiplied by the exponential function of the difference before the next columns are added. A maximum of -inf counts as 0.
// Quotients are those of the sums, at the end, and NaN where all scores are -inf.
// CHECK-LABEL: func @attention
// CHECK: scf.parallel
// CHECK: memref.alloca() {{.*}} : memref<1x[[ROWS:[0-9]+]]x1xf32>
// CHECK: memref.alloca() {{.*}} : memref<1x[[ROWS]]x1xf32>
// CHECK: memref.alloca() {{.*}} : memref<1x[[ROWS]]x8xf32>
// CHECK: memref.alloca() {{.*}} : memref<1x[[ROWS]]x[[COLUMNS:[0-9]+]]xf32>
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[I:.*]] = linalg.index 2
// CHECK: arith.addi %[[I]]
// CHECK: arith.maximumf
// CHECK: arith.cmpf oeq
// CHECK: math.exp
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.select
// CHECK: arith.divf
// CHECK: scf.reduce
#q = affine_map<(h, i, j, k) -> (h, i, k)>
#k = affine_map<(h, i, j, k) -> (h, j, k)>
#v = affine_map<(h, i, j, k) -> (h, k, j)>
#s = affine_map<(h, i, j, k) -> (h, i, j)>
#all = affine_map<(h, i, j) -> (h, i, j)>
#one = affine_map<(h, i, j) -> (h, i, 0)>
#of = affine_map<(h, i, z, j) -> (h, i, j)>
#to = affine_map<(h, i, z, j) -> (h, i, z)>
func.func @attention(%q: memref<4x100x16xf32>, %k: memref<4x4000x16xf32>, %v: memref<4x4000x8xf32>, %y: memref<4x100x8xf32>)
    attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c9 = arith.constant 9 : index
  %s = memref.alloc() : memref<4x100x4000xf32>
  %m = memref.alloc() : memref<4x100x1xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<4x100x4000xf32>)
  linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<4x100x16xf32>, memref<4x4000x16xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : memref<4x100x4000xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 2 : index
    %is_masked = arith.cmpi ult, %j, %c9 : index
    %n = arith.select %is_masked, %least, %a : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%least : f32) outs(%m : memref<4x100x1xf32>)
  linalg.generic {indexing_maps = [#of, #to], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<4x100x4000xf32>) outs(%m : memref<4x100x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.maximumf %o, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<4x100x4000xf32>, memref<4x100x1xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %n = math.exp %d : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%m : memref<4x100x1xf32>)
  linalg.generic {indexing_maps = [#of, #to], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<4x100x4000xf32>) outs(%m : memref<4x100x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<4x100x4000xf32>, memref<4x100x1xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<4x100x8xf32>)
  linalg.generic {indexing_maps = [#q, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %v : memref<4x100x4000xf32>, memref<4x4000x8xf32>) outs(%y : memref<4x100x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// The order of a sum is that of the formula: its columns are not computed in blocks.
// CHECK-LABEL: func @ordered
// CHECK-NOT: scf.for
#q = affine_map<(h, i, j, k) -> (h, i, k)>
#k = affine_map<(h, i, j, k) -> (h, j, k)>
#v = affine_map<(h, i, j, k) -> (h, k, j)>
#s = affine_map<(h, i, j, k) -> (h, i, j)>
#all = affine_map<(h, i, j) -> (h, i, j)>
#one = affine_map<(h, i, j) -> (h, i, 0)>
#of = affine_map<(h, i, z, j) -> (h, i, j)>
#to = affine_map<(h, i, z, j) -> (h, i, z)>
func.func @ordered(%q: memref<4x100x16xf32>, %k: memref<4x4000x16xf32>, %v: memref<4x4000x8xf32>, %y: memref<4x100x8xf32>)
    attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c9 = arith.constant 9 : index
  %s = memref.alloc() : memref<4x100x4000xf32>
  %m = memref.alloc() : memref<4x100x1xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<4x100x4000xf32>)
  linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<4x100x16xf32>, memref<4x4000x16xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : memref<4x100x4000xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 2 : index
    %is_masked = arith.cmpi ult, %j, %c9 : index
    %n = arith.select %is_masked, %least, %a : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%least : f32) outs(%m : memref<4x100x1xf32>)
  linalg.generic {indexing_maps = [#of, #to], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<4x100x4000xf32>) outs(%m : memref<4x100x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.maximumf %o, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<4x100x4000xf32>, memref<4x100x1xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %n = math.exp %d : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%m : memref<4x100x1xf32>)
  linalg.generic {indexing_maps = [#of, #to], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<4x100x4000xf32>) outs(%m : memref<4x100x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<4x100x4000xf32>, memref<4x100x1xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<4x100x8xf32>)
  linalg.generic {indexing_maps = [#q, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %v : memref<4x100x4000xf32>, memref<4x4000x8xf32>) outs(%y : memref<4x100x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Differences from another number than the maximum may have any exponential function.
// CHECK-LABEL: func @minimum
// CHECK-NOT: scf.for
#q = affine_map<(h, i, j, k) -> (h, i, k)>
#k = affine_map<(h, i, j, k) -> (h, j, k)>
#v = affine_map<(h, i, j, k) -> (h, k, j)>
#s = affine_map<(h, i, j, k) -> (h, i, j)>
#all = affine_map<(h, i, j) -> (h, i, j)>
#one = affine_map<(h, i, j) -> (h, i, 0)>
#of = affine_map<(h, i, z, j) -> (h, i, j)>
#to = affine_map<(h, i, z, j) -> (h, i, z)>
func.func @minimum(%q: memref<4x100x16xf32>, %k: memref<4x4000x16xf32>, %v: memref<4x4000x8xf32>, %y: memref<4x100x8xf32>)
    attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c9 = arith.constant 9 : index
  %s = memref.alloc() : memref<4x100x4000xf32>
  %m = memref.alloc() : memref<4x100x1xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<4x100x4000xf32>)
  linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<4x100x16xf32>, memref<4x4000x16xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : memref<4x100x4000xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 2 : index
    %is_masked = arith.cmpi ult, %j, %c9 : index
    %n = arith.select %is_masked, %least, %a : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%least : f32) outs(%m : memref<4x100x1xf32>)
  linalg.generic {indexing_maps = [#of, #to], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<4x100x4000xf32>) outs(%m : memref<4x100x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.minimumf %o, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<4x100x4000xf32>, memref<4x100x1xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %n = math.exp %d : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%m : memref<4x100x1xf32>)
  linalg.generic {indexing_maps = [#of, #to], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<4x100x4000xf32>) outs(%m : memref<4x100x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<4x100x4000xf32>, memref<4x100x1xf32>) outs(%s : memref<4x100x4000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<4x100x8xf32>)
  linalg.generic {indexing_maps = [#q, #v, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %v : memref<4x100x4000xf32>, memref<4x4000x8xf32>) outs(%y : memref<4x100x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  }
  return
}
