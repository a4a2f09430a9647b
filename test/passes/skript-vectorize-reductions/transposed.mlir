// RUN: skript-opt %s --skript-vectorize-reductions="vector-bits=256 vector-registers=16" | FileCheck %s

// The lanes run along rows of a dynamic number, and a tile is transposed before it is stored. The last tile stores as many rows as are
// left, not as many as its vectors have lanes.
// CHECK-LABEL: func.func private @kernel_0(
// CHECK-SAME:    %[[ROWS:arg3]]: index
// CHECK:         %[[SCRATCH:.+]] = memref.alloca() {alignment = 64 : i64} : memref<128xf32>
// CHECK:         scf.for %[[FIRST:.+]] = %{{.+}} to %[[ROWS]] step %c16 {
// CHECK:           %[[LEFT:.+]] = arith.subi %[[ROWS]], %[[FIRST]] : index
// CHECK:           %[[LAST:.+]] = arith.minsi %[[LEFT]], %c16 : index
// CHECK:           vector.store %{{.+}}, %[[SCRATCH]]
// CHECK:           scf.for %{{.+}} = %c0 to %[[LAST]] step %c1 {
func.func @rows(%x: memref<?x512xf32>, %w: memref<512x1024xf32>, %y: memref<?x1024xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j, c) -> (i, c)>, affine_map<(i, j, c) -> (c, j)>, affine_map<(i, j, c) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<?x512xf32>, memref<512x1024xf32>) outs(%y : memref<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}
