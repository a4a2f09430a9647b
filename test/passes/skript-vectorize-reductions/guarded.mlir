// RUN: skript-opt %s --skript-vectorize-reductions --split-input-file | FileCheck %s

// A predicate that a bool from outside makes redundant: one kernel without it, where the bool is true, and a small one with it. Of a
// small map, the first kernel skips the rows of the window that lie outside.
// CHECK-LABEL: func.func @small
// CHECK:         scf.if %arg3 {
// CHECK:           call @[[OPEN:kernel_0]](
// CHECK:         } else {
// CHECK:           call @[[GUARDED:kernel_1]](
// CHECK:       func.func private @[[OPEN]](
// CHECK-NOT:     arith.select
// CHECK:         scf.for %{{.+}} = %c0 to %c3
// CHECK:           arith.ori
// CHECK:           scf.if %{{.+}} -> (vector<
// CHECK-NOT:     arith.select
// CHECK:       func.func private @[[GUARDED]](
// CHECK-SAME:    "noinline", "cold", "optsize"
// CHECK:         arith.select
func.func @small(%x: memref<64x10x10xf32>, %w: memref<64x64x3x3xf32>, %y: memref<64x8x8xf32>, %finite: i1) {
  linalg.generic {
    indexing_maps = [affine_map<(k, i, j, c, p, q) -> (c, i + p, j + q)>, affine_map<(k, i, j, c, p, q) -> (k, c, p, q)>,
                     affine_map<(k, i, j, c, p, q) -> (k, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x, %w : memref<64x10x10xf32>, memref<64x64x3x3xf32>) outs(%y : memref<64x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : index
    %last = arith.constant 8 : index
    %i = linalg.index 1 : index
    %p = linalg.index 4 : index
    %row = arith.addi %i, %p : index
    %below = arith.cmpi sle, %row, %last : index
    %above = arith.cmpi sge, %row, %one : index
    %inside = arith.andi %below, %above : i1
    %holds = arith.ori %inside, %finite : i1
    %product = arith.mulf %a, %b fastmath<contract> : f32
    %value = arith.select %holds, %product, %zero : f32
    %sum = arith.addf %s, %value fastmath<reassoc, contract> : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// Of a large map, the rows outside are too few to test for them; the lanes may be the columns, which the predicate depends on.
// CHECK-LABEL: func.func @large
// CHECK:         scf.if %arg3 {
// CHECK:       func.func private @kernel_0(
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     arith.select
// CHECK:         vector.load
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     arith.select
// CHECK:       func.func private @kernel_1(
// CHECK:         arith.select {{.*}} : vector<
func.func @large(%x: memref<16x66x66xf32>, %w: memref<16x3x3xf32>, %y: memref<16x64x64xf32>, %finite: i1) {
  linalg.generic {
    indexing_maps = [affine_map<(c, i, j, p, q) -> (c, i + p, j + q)>, affine_map<(c, i, j, p, q) -> (c, p, q)>,
                     affine_map<(c, i, j, p, q) -> (c, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<16x66x66xf32>, memref<16x3x3xf32>) outs(%y : memref<16x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : index
    %j = linalg.index 2 : index
    %q = linalg.index 4 : index
    %column = arith.addi %j, %q : index
    %inside = arith.cmpi sge, %column, %one : index
    %holds = arith.ori %inside, %finite : i1
    %product = arith.mulf %a, %b fastmath<contract> : f32
    %value = arith.select %holds, %product, %zero : f32
    %sum = arith.addf %s, %value fastmath<reassoc, contract> : f32
    linalg.yield %sum : f32
  }
  return
}
