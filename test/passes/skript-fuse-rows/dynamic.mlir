// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=1048576 | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#product = affine_map<(d0, d1, d2) -> (d0, d1)>

// Products with a dynamic number of rows and of columns: a block has 64 rows, the last one what is left. The scores of a block are in an
// array on the stack, for there are at most 512 columns.
// CHECK-LABEL: func.func @bounded
// CHECK-SAME:    %[[Q:[^ ]+]]: memref<?x64xf32>, %[[K:[^ ]+]]: memref<?x64xf32>, %[[SUM:[^ ]+]]: memref<?xf32>
// CHECK-DAG:     %[[N:.+]] = memref.dim %[[Q]]
// CHECK-DAG:     %[[COLUMNS:.+]] = arith.minsi
// CHECK-NOT:     memref.alloc(
// CHECK:         %[[COUNT:.+]] = arith.ceildivui %{{.+}}, %[[SIZE:.+]] :
// CHECK:         scf.parallel (%[[I:.+]]) = (%{{.+}}) to (%[[COUNT]])
// CHECK:           %[[FIRST:.+]] = arith.muli %[[I]]
// CHECK:           %[[LEFT:.+]] = arith.subi %{{.+}}, %[[FIRST]]
// CHECK:           %[[ROWS:.+]] = arith.minsi %[[LEFT]]
// CHECK:           %[[STACK:.+]] = memref.alloca() {{.*}} : memref<64x512xf32>
// CHECK:           %[[SCORES:.+]] = memref.subview %[[STACK]][0, 0] [%[[ROWS]], %[[COLUMNS]]] [1, 1]
// CHECK:           linalg.fill {{.*}} outs(%[[SCORES]] :
// CHECK:           memref.subview %[[Q]][%[[FIRST]], 0] [%[[ROWS]], 64] [1, 1]
// CHECK:           linalg.generic {{.*}} ins(%{{.+}}, %[[K]] : {{.*}} outs(%[[SCORES]] :
// CHECK:           linalg.generic {{.*}} ins(%[[SCORES]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @bounded(%q: memref<?x64xf32>, %k: memref<?x64xf32>, %sum: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %most = arith.constant 512 : index
  %n = memref.dim %q, %c0 : memref<?x64xf32>
  %m = memref.dim %k, %c0 : memref<?x64xf32>
  %columns = arith.minsi %m, %most : index
  %scores = memref.alloc(%n, %columns) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%scores : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<?x64xf32>, memref<?x64xf32>) outs(%scores : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %o, %p : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%scores : memref<?x?xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  return
}

// Without a bound the scores stay as long as they were; a block is a part of them. What is computed from them element by element is in
// their memory.
// CHECK-LABEL: func.func @unbounded
// CHECK:         %[[SCORES:.+]] = memref.alloc(%{{.+}}, %[[M:.+]]) : memref<?x?xf32>
// CHECK-NOT:     memref.alloc(
// CHECK:         scf.parallel
// CHECK-NOT:       memref.alloca
// CHECK:           %[[PART:.+]] = memref.subview %[[SCORES]][%{{.+}}, 0] [%{{.+}}, %[[M]]] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK:           linalg.generic {{.*}} outs(%[[PART]] :
// CHECK:           linalg.generic {{.*}} ins(%[[PART]] : {{.*}} outs(%[[PART]] :
// CHECK:           linalg.generic {{.*}} ins(%[[PART]] :
func.func @unbounded(%q: memref<?x64xf32>, %k: memref<?x64xf32>, %sum: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = memref.dim %q, %c0 : memref<?x64xf32>
  %m = memref.dim %k, %c0 : memref<?x64xf32>
  %scores = memref.alloc(%n, %m) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%scores : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<?x64xf32>, memref<?x64xf32>) outs(%scores : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %o, %p : f32
    linalg.yield %v : f32
  }
  %e = memref.alloc(%n, %m) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%scores : memref<?x?xf32>) outs(%e : memref<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<?x?xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  return
}

// Rows that are not the first dimension of an array: the part of a block has a stride that is a multiple of the array's own extent.
// CHECK-LABEL: func.func @columns
// CHECK-NOT:     scf.parallel
func.func @columns(%x: memref<512x?xf32>, %y: memref<512x?xf32>, %sum: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x?xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (d1)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<512x?xf32>, memref<?xf32>) outs(%y : memref<512x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}
