// RUN: skript-opt %s --skript-block-transpositions --canonicalize --cse | FileCheck %s

// Four parts: of 100 rows and 70 columns, 96 and 64 are in blocks of 16, the others in blocks of 4 and 6. The innermost loop is
// contiguous in the output, the one around it in the transposed input; the bias is contiguous along neither. What the output has before is
// read, so that no part is computed twice.
// CHECK-DAG:   #[[IN:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[BIAS:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-LABEL: func.func @transposed
// CHECK-SAME:    %[[X:[^ ]+]]: memref<70x100xf32>, %[[B:[^ ]+]]: memref<70xf32>, %[[Y:[^ ]+]]: memref<100x70xf32>
// CHECK:         %[[XS:.+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [6, 4, 16, 16], strides: [16, 1600, 1, 100]
// CHECK:         %[[BS:.+]] = memref.reinterpret_cast %[[B]] to offset: [0], sizes: [4, 16], strides: [16, 1]
// CHECK:         %[[YS:.+]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [6, 4, 16, 16], strides: [1120, 16, 70, 1]
// CHECK:         linalg.generic {indexing_maps = [#[[IN]], #[[BIAS]], #[[IN]]], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%[[XS]], %[[BS]] : {{.*}} outs(%[[YS]] :
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [6400], sizes: [6, 1, 16, 6], strides: [16, 600, 1, 100]
// CHECK:         memref.reinterpret_cast %[[Y]] to offset: [64], sizes: [6, 1, 16, 6], strides: [1120, 6, 70, 1]
// CHECK:         linalg.generic
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [96], sizes: [1, 4, 4, 16], strides: [4, 1600, 1, 100]
// CHECK:         linalg.generic
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [6496], sizes: [1, 1, 4, 6]
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
func.func @transposed(%x: memref<70x100xf32>, %b: memref<70xf32>, %y: memref<100x70xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %b : memref<70x100xf32>, memref<70xf32>) outs(%y : memref<100x70xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = arith.addf %s, %o : f32
    linalg.yield %t : f32
  }
  return
}
