// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=200000 | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A quarter of the cache holds one block of four rows of three arrays; the two local ones are in one place, for the
// division reads and writes the same element, and so are the maxima and the sums, which begin where those end. 103 rows are 25 blocks of four and one of three.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME:    %[[X:[^ ]+]]: memref<103x1000xf32>, %[[Y:[^ ]+]]: memref<103x1000xf32>
// CHECK-NOT:     memref.alloc(
// CHECK:         scf.parallel (%[[I:.+]]) = (%{{.+}}) to (%[[N:.+]]) step
// CHECK:           %[[FIRST:.+]] = arith.muli %[[I]]
// CHECK:           %[[MAX:.+]] = memref.alloca() {{.*}} : memref<[[ROWS:[0-9]+]]xf32>
// CHECK:           linalg.fill {{.*}} outs(%[[MAX]] :
// CHECK:           %[[XS:.+]] = memref.subview %[[X]][%[[FIRST]], 0] {{\[}}[[ROWS]], 1000] [1, 1]
// CHECK:           linalg.generic {{.*}} ins(%[[XS]] : {{.*}} outs(%[[MAX]] :
// CHECK:           %[[E:.+]] = memref.alloca() {{.*}} : memref<[[ROWS]]x1000xf32>
// CHECK:           linalg.generic {{.*}} ins(%[[XS]], %[[MAX]] : {{.*}} outs(%[[E]] :
// CHECK-NOT:       memref.alloca
// CHECK:           linalg.fill {{.*}} outs(%[[SUM:[^ ]+]] :
// CHECK:           linalg.generic {{.*}} ins(%[[E]] : {{.*}} outs(%[[SUM]] :
// CHECK:           linalg.generic {{.*}} ins(%[[E]], %[[SUM]] : {{.*}} outs(%[[E]] :
// CHECK:           %[[YS:.+]] = memref.subview %[[Y]][%[[FIRST]], 0]
// CHECK:           linalg.generic {{.*}} ins(%[[E]] : {{.*}} outs(%[[YS]] :
// CHECK:           scf.reduce
// CHECK-NEXT:    } {skript.work = {{[0-9]+}} : i64}
// CHECK-NOT:     scf.parallel
// CHECK:         memref.subview %[[X]][%{{.+}}, 0] [3, 1000] [1, 1]
// CHECK:         memref.subview %[[Y]][%{{.+}}, 0] [3, 1000] [1, 1]
func.func @softmax(%x: memref<103x1000xf32>, %y: memref<103x1000xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<103xf32>
  linalg.fill ins(%least : f32) outs(%max : memref<103xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<103x1000xf32>) outs(%max : memref<103xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %o, %a : f32
    linalg.yield %v : f32
  }
  %e = memref.alloc() : memref<103x1000xf32>
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<103x1000xf32>, memref<103xf32>) outs(%e : memref<103x1000xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %v = math.exp %d : f32
    linalg.yield %v : f32
  }
  %sum = memref.alloc() : memref<103xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<103xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<103x1000xf32>) outs(%sum : memref<103xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  %q = memref.alloc() : memref<103x1000xf32>
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<103x1000xf32>, memref<103xf32>) outs(%q : memref<103x1000xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%q : memref<103x1000xf32>) outs(%y : memref<103x1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
