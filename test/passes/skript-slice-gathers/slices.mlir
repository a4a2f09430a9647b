// RUN: skript-opt %s --skript-slice-gathers | FileCheck %s

#x = affine_map<(i, j, k) -> (i, k)>
#at = affine_map<(i, j, k) -> (i)>
#y = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: func.func @matrices
// CHECK-SAME:    %[[X:.+]]: tensor<4x64xf32>, %[[W:.+]]: tensor<8x96x64xf32>, %[[AT:.+]]: tensor<4xindex>, %[[START:.+]]: tensor<4x96xf32>
// CHECK:         scf.for %[[I:.+]] = %c0 to %c4 step %c1 iter_args(%[[RESULT:.+]] = %[[START]])
// CHECK:           %[[ROW:.+]] = tensor.extract_slice %[[X]][%[[I]], 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
// CHECK:           %[[INDEX:.+]] = tensor.extract %[[AT]][%[[I]]]
// CHECK:           %[[MATRIX:.+]] = tensor.extract_slice %[[W]][%[[INDEX]], 0, 0] [1, 96, 64] [1, 1, 1] : tensor<8x96x64xf32> to tensor<96x64xf32>
// CHECK:           %[[BEFORE:.+]] = tensor.extract_slice %[[RESULT]][%[[I]], 0] [1, 96] [1, 1]
// CHECK:           %[[PRODUCT:.+]] = linalg.generic
// CHECK-SAME:        iterator_types = ["parallel", "reduction"]
// CHECK-SAME:        ins(%[[ROW]], %[[MATRIX]]
// CHECK-SAME:        outs(%[[BEFORE]]
// CHECK-NOT:         tensor.extract
// CHECK:           tensor.insert_slice %[[PRODUCT]] into %[[RESULT]][%[[I]], 0] [1, 96] [1, 1]
func.func @matrices(%x: tensor<4x64xf32>, %w: tensor<8x96x64xf32>, %at: tensor<4xindex>, %start: tensor<4x96xf32>) -> tensor<4x96xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #at, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %at : tensor<4x64xf32>, tensor<4xindex>) outs(%start : tensor<4x96xf32>) {
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

// Two loops select slices, and the payload reads their indices; the tensor is read along its columns.
#x2 = affine_map<(i, l, j, k) -> (i, k)>
#at2 = affine_map<(i, l, j, k) -> (l, i)>
#y2 = affine_map<(i, l, j, k) -> (i, j, l)>

// CHECK-LABEL: func.func @pairs
// CHECK:         scf.for %[[I:.+]] = %c0 to %c4 step
// CHECK:           scf.for %[[L:.+]] = %c0{{.*}} to %c2 step
// CHECK:             %[[INDEX:.+]] = tensor.extract %{{.+}}[%[[L]], %[[I]]]
// CHECK:             %[[SHIFTED:.+]] = arith.addi %[[INDEX]], %[[L]]
// CHECK:             tensor.extract_slice %{{.+}}[0, %[[SHIFTED]], 0] [64, 1, 96] [1, 1, 1] : tensor<64x9x96xf32> to tensor<64x96xf32>
// CHECK:             linalg.generic
// CHECK:             tensor.insert_slice %{{.+}} into %{{.+}}[%[[I]], 0, %[[L]]] [1, 96, 1] [1, 1, 1]
func.func @pairs(%x: tensor<4x64xf32>, %w: tensor<64x9x96xf32>, %at: tensor<2x4xindex>, %start: tensor<4x96x2xf32>) -> tensor<4x96x2xf32> {
  %0 = linalg.generic {indexing_maps = [#x2, #at2, #y2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %at : tensor<4x64xf32>, tensor<2x4xindex>) outs(%start : tensor<4x96x2xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %l = linalg.index 1 : index
    %j = linalg.index 2 : index
    %k = linalg.index 3 : index
    %shifted = arith.addi %index, %l : index
    %element = tensor.extract %w[%k, %shifted, %j] : tensor<64x9x96xf32>
    %product = arith.mulf %in, %element : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x96x2xf32>
  return %0 : tensor<4x96x2xf32>
}

// Two tensors are gathered by one index, which is at a constant position of its tensor; the second one has a value per slice and column.
#at3 = affine_map<(i, j, k) -> (i, 0)>

// CHECK-LABEL: func.func @scaled
// CHECK:         scf.for %[[I:.+]] = %c0 to %c4 step
// CHECK-DAG:       %[[INDEX:.+]] = tensor.extract %{{.+}}[%[[I]], %{{.+}}] : tensor<4x2xindex>
// CHECK-DAG:       tensor.extract_slice %{{.+}}[%{{.+}}, 0, 0] [1, 96, 64] [1, 1, 1]
// CHECK-DAG:       tensor.extract_slice %{{.+}}[%{{.+}}, 0] [1, 96] [1, 1]
// CHECK:           linalg.generic
// CHECK-NOT:         tensor.extract %
// CHECK:           tensor.insert_slice
func.func @scaled(%x: tensor<4x64xf32>, %w: tensor<8x96x64xf32>, %s: tensor<8x96xf32>, %at: tensor<4x2xindex>, %start: tensor<4x96xf32>) -> tensor<4x96xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #at3, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %at : tensor<4x64xf32>, tensor<4x2xindex>) outs(%start : tensor<4x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %element = tensor.extract %w[%index, %j, %k] : tensor<8x96x64xf32>
    %scale = tensor.extract %s[%index, %j] : tensor<8x96xf32>
    %scaled = arith.mulf %element, %scale : f32
    %product = arith.mulf %in, %scaled : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x96xf32>
  return %0 : tensor<4x96xf32>
}

// The first of two reductions selects slices, as in a mixture of experts: its loop adds to the same part of the result.
#x5 = affine_map<(i, l, j, k) -> (i, k)>
#at5 = affine_map<(i, l, j, k) -> (i, l)>
#y5 = affine_map<(i, l, j, k) -> (i, j)>

// CHECK-LABEL: func.func @mixture
// CHECK:         scf.for %[[I:.+]] = %c0 to %c4 step
// CHECK:           scf.for %[[L:.+]] = %c0{{.*}} to %c2 step %c1{{.*}} iter_args(%[[RESULT:.+]] =
// CHECK:             %[[INDEX:.+]] = tensor.extract %{{.+}}[%[[I]], %[[L]]]
// CHECK:             %[[MATRIX:.+]] = tensor.extract_slice %{{.+}}[%[[INDEX]], 0, 0] [1, 96, 64] [1, 1, 1]
// CHECK:             %[[BEFORE:.+]] = tensor.extract_slice %[[RESULT]][%[[I]], 0] [1, 96] [1, 1]
// CHECK:             %[[SUM:.+]] = linalg.generic
// CHECK-SAME:          iterator_types = ["parallel", "reduction"]
// CHECK-SAME:          outs(%[[BEFORE]]
// CHECK:             tensor.insert_slice %[[SUM]] into %[[RESULT]][%[[I]], 0] [1, 96] [1, 1]
func.func @mixture(%x: tensor<4x64xf32>, %w: tensor<8x96x64xf32>, %at: tensor<4x2xindex>, %start: tensor<4x96xf32>) -> tensor<4x96xf32> {
  %0 = linalg.generic {indexing_maps = [#x5, #at5, #y5], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
      ins(%x, %at : tensor<4x64xf32>, tensor<4x2xindex>) outs(%start : tensor<4x96xf32>) {
  ^bb0(%in: f32, %index: index, %out: f32):
    %j = linalg.index 2 : index
    %k = linalg.index 3 : index
    %element = tensor.extract %w[%index, %j, %k] : tensor<8x96x64xf32>
    %product = arith.mulf %in, %element : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x96xf32>
  return %0 : tensor<4x96xf32>
}
