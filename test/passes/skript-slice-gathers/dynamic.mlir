// RUN: skript-opt %s --skript-slice-gathers | FileCheck %s

// The loop over slices may have a dynamic extent.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[X:.+]]: tensor<?x64xf32>, %[[W:.+]]: tensor<8x96x64xf32>, %[[AT:.+]]: tensor<?xindex>
// CHECK:         %[[COUNT:.+]] = tensor.dim %[[X]], %c0
// CHECK:         scf.for %[[I:.+]] = %c0{{.*}} to %[[COUNT]] step
// CHECK:           tensor.extract_slice %[[X]][%[[I]], 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
// CHECK:           tensor.extract_slice %[[W]][%{{.+}}, 0, 0] [1, 96, 64] [1, 1, 1] : tensor<8x96x64xf32> to tensor<96x64xf32>
// CHECK:           linalg.generic
// CHECK:           tensor.insert_slice %{{.+}} into %{{.+}}[%[[I]], 0] [1, 96] [1, 1] : tensor<96xf32> into tensor<?x96xf32>
func.func @rows(%x: tensor<?x64xf32>, %w: tensor<8x96x64xf32>, %at: tensor<?xindex>, %start: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %at : tensor<?x64xf32>, tensor<?xindex>) outs(%start : tensor<?x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %w[%index, %j, %k] : tensor<8x96x64xf32>
    %product = arith.mulf %in, %element : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<?x96xf32>
  return %0 : tensor<?x96xf32>
}

// A slice with a dynamic extent.
// CHECK-LABEL: func.func @columns
// CHECK-NOT:     scf.for
func.func @columns(%x: tensor<4x?xf32>, %w: tensor<8x96x?xf32>, %at: tensor<4xindex>, %start: tensor<4x96xf32>) -> tensor<4x96xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %at : tensor<4x?xf32>, tensor<4xindex>) outs(%start : tensor<4x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %w[%index, %j, %k] : tensor<8x96x?xf32>
    %product = arith.mulf %in, %element : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x96xf32>
  return %0 : tensor<4x96xf32>
}
