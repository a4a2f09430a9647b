// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=28000 | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A quarter of the cache holds one block of four rows of two arrays. Those that members alone access are in the memory of the result, for
// the division reads and writes the same element; the maxima and the sums are in one place, for these begin where those end. 103 rows are
// 25 blocks of four and one of three.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME:    %[[X:[^ ]+]]: memref<103x200xf32>, %[[Y:[^ ]+]]: memref<103x200xf32>
// CHECK-NOT:     memref.alloc(
// CHECK:         scf.parallel (%[[I:.+]]) = (%{{.+}}) to (%[[N:.+]]) step
// CHECK:           %[[FIRST:.+]] = arith.muli %[[I]]
// CHECK:           %[[MAX:.+]] = memref.alloca() {{.*}} : memref<4xf32>
// CHECK:           linalg.fill {{.*}} outs(%[[MAX]] :
// CHECK:           %[[XS:.+]] = memref.subview %[[X]][%[[FIRST]], 0] [4, 200] [1, 1]
// CHECK:           linalg.generic {{.*}} ins(%[[XS]] : {{.*}} outs(%[[MAX]] :
// CHECK-NOT:       memref.alloca
// CHECK:           %[[YS:.+]] = memref.subview %[[Y]][%[[FIRST]], 0] [4, 200] [1, 1]
// CHECK:           linalg.generic {{.*}} ins(%[[XS]], %[[MAX]] : {{.*}} outs(%[[YS]] :
// CHECK:           linalg.fill {{.*}} outs(%[[MAX]] :
// CHECK:           linalg.generic {{.*}} ins(%[[YS]] : {{.*}} outs(%[[MAX]] :
// CHECK:           linalg.generic {{.*}} ins(%[[YS]], %[[MAX]] : {{.*}} outs(%[[YS]] :
// CHECK:           linalg.generic {{.*}} ins(%[[YS]] : {{.*}} outs(%[[YS]] :
// CHECK:           scf.reduce
// CHECK-NEXT:    } {skript.work = {{[0-9]+}} : i64}
// CHECK-NOT:     scf.parallel
// CHECK:         memref.subview %[[X]][%{{.+}}, 0] [3, 200] [1, 1]
// CHECK:         memref.subview %[[Y]][%{{.+}}, 0] [3, 200] [1, 1]
func.func @softmax(%x: memref<103x200xf32>, %y: memref<103x200xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<103xf32>
  linalg.fill ins(%least : f32) outs(%max : memref<103xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<103x200xf32>) outs(%max : memref<103xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  %e = memref.alloc() : memref<103x200xf32>
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<103x200xf32>, memref<103xf32>) outs(%e : memref<103x200xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %v = math.exp %d : f32
    linalg.yield %v : f32
  }
  %sum = memref.alloc() : memref<103xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<103xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<103x200xf32>) outs(%sum : memref<103xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  %q = memref.alloc() : memref<103x200xf32>
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<103x200xf32>, memref<103xf32>) outs(%q : memref<103x200xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%q : memref<103x200xf32>) outs(%y : memref<103x200xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
