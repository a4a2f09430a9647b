// RUN: skript-opt %s --skript-fuse-rows=gpu=sm_80 | FileCheck %s

// An attention with long rows whose sums of products are rounded to a shorter type: they have no array of the result's type to be in. Both
// contractions are in the kernel, not only the second one, which whole rows of weights would be read for.
// CHECK-LABEL: func @rounded
// CHECK-NOT: linalg
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic {{.*}}reduction
#all = affine_map<(h, i, j) -> (h, i, j)>
#of = affine_map<(h, i, j) -> (h, i, 0)>
#row = affine_map<(h, i, j, l) -> (h, i, l)>
#key = affine_map<(h, i, j, l) -> (h, j, l)>
#value = affine_map<(h, i, j, l) -> (h, l, j)>
#sum = affine_map<(h, i, j, l) -> (h, i, j)>
func.func @rounded(%x: memref<2x1500x64xf32>, %r: memref<2x1500x64xbf16> {llvm.noalias}) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = memref.alloc() {alignment = 64 : i64} : memref<2x1500x1500xf32>
  %m = memref.alloc() {alignment = 64 : i64} : memref<2x1500x1xf32>
  %t = memref.alloc() {alignment = 64 : i64} : memref<2x1500x1xf32>
  %y = memref.alloc() {alignment = 64 : i64} : memref<2x1500x64xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<2x1500x1500xf32>)
  linalg.generic {indexing_maps = [#row, #key, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %x : memref<2x1500x64xf32>, memref<2x1500x64xf32>) outs(%s : memref<2x1500x1500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %n = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%least : f32) outs(%m : memref<2x1500x1xf32>)
  linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<2x1500x1500xf32>) outs(%m : memref<2x1500x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.maximumf %o, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #of, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<2x1500x1500xf32>, memref<2x1500x1xf32>) outs(%s : memref<2x1500x1500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %n = math.exp %d : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%t : memref<2x1500x1xf32>)
  linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : memref<2x1500x1500xf32>) outs(%t : memref<2x1500x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %o, %a fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #of, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %t : memref<2x1500x1500xf32>, memref<2x1500x1xf32>) outs(%s : memref<2x1500x1500xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<2x1500x64xf32>)
  linalg.generic {indexing_maps = [#row, #value, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %x : memref<2x1500x1500xf32>, memref<2x1500x64xf32>) outs(%y : memref<2x1500x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %n = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %x : memref<2x1500x64xf32>, memref<2x1500x64xf32>) outs(%r : memref<2x1500x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %u = arith.addf %a, %b : f32
    %n = arith.truncf %u : f32 to bf16
    linalg.yield %n : bf16
  }
  return
}
