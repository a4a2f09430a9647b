// RUN: skript-opt %s --skript-slice-gathers | FileCheck %s

// An index that the reduction selects, a slice of few elements, and a window of the gathered dimension.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     scf.for
// CHECK-COUNT-3: tensor.extract %
// CHECK-NOT:     scf.for
func.func @others(%x: tensor<4x64xf32>, %w: tensor<8x96x64xf32>, %few: tensor<8x96x4xf32>, %at: tensor<64xindex>, %rows: tensor<4xindex>, %start: tensor<4x96xf32>) -> (tensor<4x96xf32>, tensor<4x96xf32>, tensor<4x96xf32>) {
  %c1 = arith.constant 1 : index
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %at : tensor<4x64xf32>, tensor<64xindex>) outs(%start : tensor<4x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %w[%index, %j, %k] : tensor<8x96x64xf32>
    %product = arith.mulf %in, %element : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x96xf32>
  %shape = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%shape, %rows : tensor<4xf32>, tensor<4xindex>) outs(%start : tensor<4x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %few[%index, %j, %k] : tensor<8x96x4xf32>
    %sum = arith.addf %out, %element : f32
    linalg.yield %sum : f32
  } -> tensor<4x96xf32>
  %2 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %rows : tensor<4x64xf32>, tensor<4xindex>) outs(%start : tensor<4x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %next = arith.addi %k, %index : index
    %element = tensor.extract %w[%index, %j, %next] : tensor<8x96x64xf32>
    %product = arith.mulf %in, %element : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x96xf32>
  return %0, %1, %2 : tensor<4x96xf32>, tensor<4x96xf32>, tensor<4x96xf32>
}

// The last reduction selects slices: a loop over them would change the order of the sum.
// CHECK-LABEL: func.func @last_reduction
// CHECK-NOT:     scf.for
func.func @last_reduction(%x: tensor<4x64xf32>, %w: tensor<8x96x64xf32>, %at: tensor<4x2xindex>, %start: tensor<4x96xf32>) -> tensor<4x96xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (i, l)>, affine_map<(i, j, k, l) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %at : tensor<4x64xf32>, tensor<4x2xindex>) outs(%start : tensor<4x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %w[%index, %j, %k] : tensor<8x96x64xf32>
    %product = arith.mulf %in, %element : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x96xf32>
  return %0 : tensor<4x96xf32>
}
