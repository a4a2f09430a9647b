// RUN: skript-opt %s --skript-shuffle-reads=vector-bits=128 | FileCheck %s

// What stays: constant steps, which LLVM shuffles; elements that are farther apart than two vectors; dynamic extents; short rows; a result
// in the array that is read; a payload that uses its index.
#same = affine_map<(i, j) -> (i, j)>
#steps = affine_map<(i, j) -> (i, j * 2)>
#far = affine_map<(i, j) -> (i, (j * 13) floordiv 3)>
#half = affine_map<(i, j) -> (i, j floordiv 2)>
// CHECK-NOT: vector.shuffle
// CHECK-LABEL: func.func @steps
func.func @steps(%x: memref<2x16xf32>, %y: memref<2x8xf32>) {
  linalg.generic {indexing_maps = [#steps, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x16xf32>) outs(%y : memref<2x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @far
func.func @far(%x: memref<2x40xf32>, %y: memref<2x8xf32>) {
  linalg.generic {indexing_maps = [#far, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x40xf32>) outs(%y : memref<2x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: memref<2x?xf32>, %y: memref<2x?xf32>) {
  linalg.generic {indexing_maps = [#half, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x?xf32>) outs(%y : memref<2x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @short
func.func @short(%x: memref<2x2xf32>, %y: memref<2x3xf32>) {
  linalg.generic {indexing_maps = [#half, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x2xf32>) outs(%y : memref<2x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @place
func.func @place(%y: memref<2x8xf32>) {
  linalg.generic {indexing_maps = [#half, #same], iterator_types = ["parallel", "parallel"]} ins(%y : memref<2x8xf32>) outs(%y : memref<2x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @index
func.func @index(%x: memref<2x4xf32>, %y: memref<2x8xf32>) {
  linalg.generic {indexing_maps = [#half, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x4xf32>) outs(%y : memref<2x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %v = arith.sitofp %k : i32 to f32
    linalg.yield %v : f32
  }
  return
}
