// RUN: skript-opt %s --skript-hoist-invariants | FileCheck %s

// The scale of a normalization varies along the channels alone: one root and one division for each channel.
// CHECK-LABEL: func.func @normalize
// CHECK:         %[[EMPTY:.+]] = tensor.empty() : tensor<8xf32>
// CHECK:         %[[SCALE:.+]] = linalg.generic {indexing_maps = [#[[$VECTOR:.+]], #[[$VECTOR]], #[[$VECTOR]]], iterator_types = ["parallel"]} ins(%arg1, %arg2 : tensor<8xf32>, tensor<8xf32>) outs(%[[EMPTY]]
// CHECK:           %[[ROOT:.+]] = math.sqrt
// CHECK:           arith.divf %{{.+}}, %[[ROOT]]
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %[[SCALE]] : tensor<8x6x6xf32>, tensor<8xf32>)
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f32, %[[S:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT:      %[[Y:.+]] = arith.mulf %[[X]], %[[S]]
// CHECK-NEXT:      linalg.yield %[[Y]]
func.func @normalize(%x: tensor<8x6x6xf32>, %scale: tensor<8xf32>, %variance: tensor<8xf32>) -> tensor<8x6x6xf32> {
  %empty = tensor.empty() : tensor<8x6x6xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, i, j) -> (c, i, j)>, affine_map<(c, i, j) -> (c)>, affine_map<(c, i, j) -> (c)>, affine_map<(c, i, j) -> (c, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x, %scale, %variance : tensor<8x6x6xf32>, tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8x6x6xf32>) {
  ^bb0(%a: f32, %s: f32, %v: f32, %o: f32):
    %root = math.sqrt %v : f32
    %factor = arith.divf %s, %root : f32
    %y = arith.mulf %a, %factor : f32
    linalg.yield %y : f32
  } -> tensor<8x6x6xf32>
  return %0 : tensor<8x6x6xf32>
}

// The angle of a position is the same for all heads. An index of the outer operation is one of the new loops.
// CHECK-LABEL: func.func @rotate
// CHECK:         %[[SINES:.+]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel"]
// CHECK:           linalg.index 0
// CHECK:           math.sin
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%arg0, %[[SINES]] : tensor<4x16x8xf32>, tensor<16x8xf32>)
// CHECK-NOT:       math.sin
// CHECK:         return
func.func @rotate(%x: tensor<4x16x8xf32>, %frequency: tensor<8xf32>) -> tensor<4x16x8xf32> {
  %empty = tensor.empty() : tensor<4x16x8xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(h, p, k) -> (h, p, k)>, affine_map<(h, p, k) -> (k)>, affine_map<(h, p, k) -> (h, p, k)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x, %frequency : tensor<4x16x8xf32>, tensor<8xf32>) outs(%empty : tensor<4x16x8xf32>) {
  ^bb0(%a: f32, %f: f32, %o: f32):
    %position = linalg.index 1 : index
    %integer = arith.index_cast %position : index to i64
    %p = arith.sitofp %integer : i64 to f32
    %angle = arith.mulf %p, %f : f32
    %sine = math.sin %angle : f32
    %y = arith.mulf %a, %sine : f32
    linalg.yield %y : f32
  } -> tensor<4x16x8xf32>
  return %0 : tensor<4x16x8xf32>
}

// The last input only defines the extent of the reduction.
// CHECK-LABEL: func.func @extent
// CHECK:         %[[ROOTS:.+]] = linalg.generic
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%arg1, %[[ROOTS]] : tensor<6xf32>, tensor<8xf32>)
func.func @extent(%x: tensor<8xf32>, %shape: tensor<6xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(c, k) -> (c)>, affine_map<(c, k) -> (k)>, affine_map<(c, k) -> (c)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x, %shape : tensor<8xf32>, tensor<6xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %root = math.sqrt %a : f32
    %y = arith.addf %o, %root : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
