// RUN: skript-opt %s --skript-vectorize-reductions="vector-bits=256 vector-registers=16" | FileCheck %s

// The scores of an attention, with a dynamic number of steps: strides are multiples of the extents, which are arguments. The second
// operand is copied in blocks; the copy's outermost loop is that with the dynamic extent, so its strides are static.
// CHECK-LABEL: func.func @scores
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<4x?x64xf32>, %[[K:[a-z0-9]+]]: memref<4x?x64xf32>
// CHECK:         %[[COPY:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf32>
// CHECK:         call @pack_0(
// CHECK:         call @kernel_0(
func.func @scores(%q: memref<4x?x64xf32>, %k: memref<4x?x64xf32>, %s: memref<4x?x?xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(h, i, j, c) -> (h, i, c)>, affine_map<(h, i, j, c) -> (h, j, c)>, affine_map<(h, i, j, c) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%q, %k : memref<4x?x64xf32>, memref<4x?x64xf32>) outs(%s : memref<4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// Sums over a dynamic extent, along the lanes: the last vector is masked.
// CHECK-LABEL: func.func @sums
// CHECK:         call @kernel_1(
func.func @sums(%s: memref<4x?x?xf32>, %y: memref<4x?xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%s : memref<4x?x?xf32>) outs(%y : memref<4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = arith.addf %o, %a : f32
    linalg.yield %sum : f32
  }
  return
}

// A reduction of a dynamic extent around static lanes.
// CHECK-LABEL: func.func @mixed
// CHECK:         call @kernel_2(
func.func @mixed(%p: memref<4x?x?xf32>, %v: memref<4x?x64xf32>, %y: memref<4x?x64xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(h, i, c, j) -> (h, i, j)>, affine_map<(h, i, c, j) -> (h, j, c)>, affine_map<(h, i, c, j) -> (h, i, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%p, %v : memref<4x?x?xf32>, memref<4x?x64xf32>) outs(%y : memref<4x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func private @pack_0(
// CHECK-SAME:    index, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index) attributes
// CHECK-LABEL: func.func private @kernel_0(
// CHECK:         arith.muli
// CHECK:         vector.create_mask
// CHECK:         vector.maskedstore
// CHECK-LABEL: func.func private @kernel_1(
// CHECK:         vector.load
// CHECK:         vector.create_mask
// CHECK:         vector.maskedload
// CHECK:         vector.reduction <add>
// CHECK-LABEL: func.func private @kernel_2(
// CHECK:         scf.for %{{.*}} = %{{.*}} to %arg{{[0-9]+}} step %{{.*}} iter_args
