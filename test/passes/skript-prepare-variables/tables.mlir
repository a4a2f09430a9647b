// RUN: skript-opt %s --skript-prepare-variables | FileCheck %s

// A table of values that depend on positions alone is computed once, if that takes longer than to read it.
// CHECK:       module attributes {skript.prepared_size = 256 : i64}
// CHECK-LABEL: func.func @model
// CHECK-SAME:    %[[ARRAY:[^ ]+]]: memref<256xi8>
// CHECK:         %[[TABLE:.+]] = memref.view %[[ARRAY]]{{.*}} to memref<64xf32>
// CHECK:         %[[SHORT:.+]] = memref.alloc() : memref<64xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[SHORT]]
// CHECK-NOT:     arith.divf
// CHECK:         linalg.generic {{.*}} ins(%arg0, %[[TABLE]], %[[SHORT]]
// CHECK:       func.func private @prepare_0
// CHECK:         arith.divf
func.func @model(%x: memref<8x64xf32> {skript.role = "input"}, %y: memref<8x64xf32>) attributes {skript.entry} {
  %scale = arith.constant 3.0 : f32
  %table = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%table : memref<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %r = arith.sitofp %n : i64 to f32
    %v = arith.divf %r, %scale : f32
    linalg.yield %v : f32
  }
  %short = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%short : memref<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %r = arith.sitofp %n : i64 to f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %table, %short : memref<8x64xf32>, memref<64xf32>, memref<64xf32>) outs(%y : memref<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  }
  return
}
