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

// The lanes are along the static columns, since there may be few rows. The rows that remain are computed in tiles of two and one.
// CHECK-LABEL: func.func @rows
// CHECK:         call @kernel_3(
func.func @rows(%x: memref<?x64xf32>, %w: memref<64x96xf32>, %y: memref<?x96xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j, c) -> (i, c)>, affine_map<(i, j, c) -> (c, j)>, affine_map<(i, j, c) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<?x64xf32>, memref<64x96xf32>) outs(%y : memref<?x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// A window: the extents of the input are not those of loops; they are arguments after those of loops.
// CHECK-LABEL: func.func @window
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<8x?x?xf32>
// CHECK-DAG:     %[[H:.*]] = memref.dim %[[X]], %c1{{.*}} : memref<8x?x?xf32>
// CHECK-DAG:     %[[W:.*]] = memref.dim %[[X]], %c2{{.*}} : memref<8x?x?xf32>
// CHECK:         call @kernel_4({{.*}}, %[[W]], %[[H]]
func.func @window(%x: memref<8x?x?xf32>, %f: memref<12x8x3x3xf32>, %y: memref<12x?x?xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c, k, l) -> (c, h + k, w + l)>, affine_map<(n, h, w, c, k, l) -> (n, c, k, l)>, affine_map<(n, h, w, c, k, l) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x, %f : memref<8x?x?xf32>, memref<12x8x3x3xf32>) outs(%y : memref<12x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// Elements two apart along a dynamic extent: the vectors of the remainder are masked.
// CHECK-LABEL: func.func @strided
// CHECK:         call @kernel_5(
func.func @strided(%x: memref<8x?x?xf32>, %f: memref<12x8x3x3xf32>, %y: memref<12x?x?xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c, k, l) -> (c, h * 2 + k, w * 2 + l)>, affine_map<(n, h, w, c, k, l) -> (n, c, k, l)>, affine_map<(n, h, w, c, k, l) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x, %f : memref<8x?x?xf32>, memref<12x8x3x3xf32>) outs(%y : memref<12x?x?xf32>) {
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
// CHECK-LABEL: func.func private @kernel_3(
// CHECK-NOT:     vector.create_mask
// CHECK:         return
// CHECK-LABEL: func.func private @kernel_4(
// CHECK:         vector.load
// CHECK:         vector.maskedload
// CHECK-LABEL: func.func private @kernel_5(
// CHECK:         vector.shuffle
// CHECK:         vector.create_mask
// CHECK:         vector.maskedload
// CHECK:         vector.shuffle
// CHECK-NOT:     vector.gather
