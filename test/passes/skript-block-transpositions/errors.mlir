// RUN: skript-opt %s --skript-block-transpositions | FileCheck %s

// What stays: arrays that are contiguous along one loop, small ones, dynamic ones, ones whose beginning is dynamic, and a payload that uses the value of a loop.
#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
// CHECK-NOT: memref.reinterpret_cast
// CHECK-LABEL: func.func @along
func.func @along(%x: memref<200x100xf32>, %y: memref<200x100xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<200x100xf32>) outs(%y : memref<200x100xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @small
func.func @small(%x: memref<30x40xf32>, %y: memref<40x30xf32>) {
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<30x40xf32>) outs(%y : memref<40x30xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: memref<?x100xf32>, %y: memref<100x?xf32>) {
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x100xf32>) outs(%y : memref<100x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @offset
func.func @offset(%x: memref<100x100xf32, strided<[100, 1], offset: ?>>, %y: memref<100x100xf32>) {
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<100x100xf32, strided<[100, 1], offset: ?>>) outs(%y : memref<100x100xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @index
func.func @index(%x: memref<100x100xf32>, %y: memref<100x100xf32>) {
  linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<100x100xf32>) outs(%y : memref<100x100xf32>) {
  ^bb0(%p: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %diagonal = arith.cmpi eq, %i, %j : index
    %v = arith.select %diagonal, %o, %p : f32
    linalg.yield %v : f32
  }
  return
}

// CHECK-LABEL: func.func @outputs
func.func @outputs(%x: memref<100x100xf32>, %y: memref<100x100xf32>, %z: memref<100x100xf32>) {
  linalg.generic {indexing_maps = [#turned, #same, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<100x100xf32>) outs(%y, %z : memref<100x100xf32>, memref<100x100xf32>) {
  ^bb0(%p: f32, %o: f32, %q: f32):
    linalg.yield %p, %p : f32, f32
  }
  return
}
