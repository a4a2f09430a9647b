// RUN: skript-opt %s --skript-fuse-rows=cache-bytes=65536 | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A dynamic number of rows: whole blocks, then one row after the other.
// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[N:.+]] = memref.dim
// CHECK:         %[[COUNT:.+]] = arith.divui %[[N]]
// CHECK:         scf.parallel (%{{.+}}) = (%{{.+}}) to (%[[COUNT]])
// CHECK:         scf.parallel
// CHECK:           memref.subview %{{.+}}[%{{.+}}, 0] [1, 128] [1, 1]
func.func @dynamic(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %sum: memref<?xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x128xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<?x128xf32>, memref<?xf32>) outs(%y : memref<?x128xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}

// The following operation reads other rows than the reduced ones.
// CHECK-LABEL: func.func @columns
// CHECK-NOT:     scf.parallel
func.func @columns(%x: memref<512x512xf32>, %y: memref<512x512xf32>, %sum: memref<512xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x512xf32>) outs(%sum : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (511 - d0)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<512x512xf32>, memref<512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}

// The position of a row in its block is not its position in the array.
// CHECK-LABEL: func.func @position
// CHECK-NOT:     scf.parallel
func.func @position(%x: memref<512x512xf32>, %y: memref<512x512xf32>, %sum: memref<512xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x512xf32>) outs(%sum : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<512x512xf32>, memref<512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i64
    %f = arith.sitofp %w : i64 to f32
    %p = arith.mulf %a, %f : f32
    %v = arith.divf %p, %m : f32
    linalg.yield %v : f32
  }
  return
}

// A call between that writes what the sum reads stays where it is, and so does the sum.
// CHECK-LABEL: func.func @between
// CHECK:         linalg.generic
// CHECK:         call @other
// CHECK:         linalg.generic
// CHECK-NOT:     scf.parallel
func.func private @other(memref<512x512xf32>)
func.func @between(%x: memref<512x512xf32>, %y: memref<512x512xf32>, %sum: memref<512xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x512xf32>) outs(%sum : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  call @other(%x) : (memref<512x512xf32>) -> ()
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<512x512xf32>, memref<512xf32>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}

// All rows fit the cache.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     scf.parallel
func.func @small(%x: memref<4x16xf32>, %y: memref<4x16xf32>, %sum: memref<4xf32>) {
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x16xf32>) outs(%sum : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<4x16xf32>, memref<4xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.divf %a, %m : f32
    linalg.yield %v : f32
  }
  return
}

// A sum over columns alone, with what starts it: no other operation would find a block in the cache.
// CHECK-LABEL: func.func @alone
// CHECK-NOT:     scf.parallel
// CHECK:         return
func.func @alone(%x: memref<512x1024xf32>, %sum: memref<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  }
  return
}
