// RUN: skript-opt %s --skript-merge-slices --canonicalize --mlir-print-local-scope | FileCheck %s

#row = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (0, i, j)>
#second = affine_map<(i, j) -> (1, i, j)>

// Copies of slices, in any order.
// CHECK-LABEL: func.func @copies
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-NEXT:    return %[[X]]
func.func @copies(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %space = tensor.empty() : tensor<3x4xf32>
  %result = tensor.empty() : tensor<2x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#first, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<2x3x4xf32>) outs(%space : tensor<3x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x4xf32>
  %1 = linalg.generic {indexing_maps = [#second, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<2x3x4xf32>) outs(%space : tensor<3x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x4xf32>
  %2 = tensor.insert_slice %1 into %result[1, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<3x4xf32> into tensor<2x3x4xf32>
  %3 = tensor.insert_slice %0 into %2[0, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<3x4xf32> into tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}

#line = affine_map<(i, j, k) -> (j, k)>
#all = affine_map<(i, j, k) -> (i, j, k)>

// Copies of `tensor.extract_slice` with a restored dimension, and slices of several rows.
// CHECK-LABEL: func.func @parts
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x1x4xf32>, %[[Z:[a-z0-9]+]]: tensor<5x4xf32>
// CHECK-NEXT:    return %[[X]], %[[Z]]
func.func @parts(%x: tensor<3x1x4xf32>, %z: tensor<5x4xf32>) -> (tensor<3x1x4xf32>, tensor<5x4xf32>) {
  %space = tensor.empty() : tensor<1x1x4xf32>
  %result = tensor.empty() : tensor<3x1x4xf32>
  %s0 = tensor.extract_slice %x[0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<3x1x4xf32> to tensor<1x4xf32>
  %0 = linalg.generic {indexing_maps = [#line, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s0 : tensor<1x4xf32>) outs(%space : tensor<1x1x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x1x4xf32>
  %s1 = tensor.extract_slice %x[1, 0, 0] [2, 1, 4] [1, 1, 1] : tensor<3x1x4xf32> to tensor<2x4xf32>
  %1 = tensor.insert_slice %0 into %result[0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<1x1x4xf32> into tensor<3x1x4xf32>
  %2 = tensor.insert_slice %s1 into %1[1, 0, 0] [2, 1, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<3x1x4xf32>
  %rows = tensor.empty() : tensor<5x4xf32>
  %top = tensor.extract_slice %z[0, 0] [2, 4] [1, 1] : tensor<5x4xf32> to tensor<2x4xf32>
  %bottom = tensor.extract_slice %z[2, 0] [3, 4] [1, 1] : tensor<5x4xf32> to tensor<3x4xf32>
  %3 = tensor.insert_slice %top into %rows[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<5x4xf32>
  %4 = tensor.insert_slice %bottom into %3[2, 0] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<5x4xf32>
  return %2, %4 : tensor<3x1x4xf32>, tensor<5x4xf32>
}

#column = affine_map<(i, j) -> (j, 0, i)>
#next = affine_map<(i, j) -> (j, 1, i)>

// The slices of the second dimension, transposed, become slices of the last dimension.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x2x4xf32>
// CHECK-NOT:     tensor.insert_slice
// CHECK:         %[[Y:.+]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2, d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], {{.*}} ins(%[[X]] : tensor<3x2x4xf32>)
// CHECK:         return %[[Y]]
func.func @transposed(%x: tensor<3x2x4xf32>) -> tensor<4x3x2xf32> {
  %space = tensor.empty() : tensor<4x3xf32>
  %result = tensor.empty() : tensor<4x3x2xf32>
  %0 = linalg.generic {indexing_maps = [#column, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<3x2x4xf32>) outs(%space : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x3xf32>
  %1 = linalg.generic {indexing_maps = [#next, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<3x2x4xf32>) outs(%space : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x3xf32>
  %2 = tensor.insert_slice %0 into %result[0, 0, 0] [4, 3, 1] [1, 1, 1] : tensor<4x3xf32> into tensor<4x3x2xf32>
  %3 = tensor.insert_slice %1 into %2[0, 0, 1] [4, 3, 1] [1, 1, 1] : tensor<4x3xf32> into tensor<4x3x2xf32>
  return %3 : tensor<4x3x2xf32>
}

#at = affine_map<(i) -> (1, i)>
#vector = affine_map<(i) -> (i)>

// A part of a slice, and an intermediate tensor that has another user.
// CHECK-LABEL: func.func @subscripts
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK-COUNT-2: tensor.insert_slice
// CHECK-NOT:     tensor.insert_slice
// CHECK:         return %[[X]], %{{.+}} :
func.func @subscripts(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %space = tensor.empty() : tensor<4xf32>
  %result = tensor.empty() : tensor<3x4xf32>
  %first = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  %second = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  %end = tensor.extract_slice %x[1, 0] [2, 4] [1, 1] : tensor<3x4xf32> to tensor<2x4xf32>
  %last = linalg.generic {indexing_maps = [#at, #vector], iterator_types = ["parallel"]}
    ins(%end : tensor<2x4xf32>) outs(%space : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  %0 = tensor.insert_slice %first into %result[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %1 = tensor.insert_slice %second into %0[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %2 = tensor.insert_slice %last into %1[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  return %2, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}
