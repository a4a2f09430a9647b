// RUN: skript-opt %s --skript-interchange-reductions --split-input-file | FileCheck %s

// The loop over columns goes innermost; what asks for a loop asks for the same one.
// CHECK-DAG:   #[[X:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG:   #[[W:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG:   #[[Y:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @product
// CHECK:         indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "reduction", "parallel"]
// CHECK:         linalg.index 2 : index
func.func @product(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    %f = arith.sitofp %c : i32 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %f : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// The rows of the second factor are not interchanged: its columns are not contiguous.
// CHECK-LABEL: func.func @transposed
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
func.func @transposed(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Rows of four elements are shorter than a vector.
// CHECK-LABEL: func.func @short
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
func.func @short(%x: memref<?x?xf32>, %w: memref<?x4xf32>, %y: memref<?x4xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<?x?xf32>, memref<?x4xf32>) outs(%y : memref<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// A window along its row.
// CHECK-LABEL: func.func @window
// CHECK:         iterator_types = ["parallel", "reduction", "parallel"]
func.func @window(%x: memref<?x18xf32>, %w: memref<3xf32>, %y: memref<?x16xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(b, i, j) -> (b, i + j)>, affine_map<(b, i, j) -> (j)>, affine_map<(b, i, j) -> (b, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<?x18xf32>, memref<3xf32>) outs(%y : memref<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Tensors have no order of elements.
// CHECK-LABEL: func.func @tensors
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
func.func @tensors(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
