// RUN: skript-opt %s --skript-merge-slices --canonicalize | FileCheck %s

#transposed = affine_map<(i, j) -> (0, j, i)>
#computed = affine_map<(i, j) -> (1, i, j)>
#first = affine_map<(i, j) -> (0, i, j)>
#row = affine_map<(i, j) -> (i, j)>

// Exchanged slices, a missing slice, a slice of another tensor, and an overwritten slice, whose first insertion is removed by
// `canonicalize`.
// CHECK-LABEL:   func.func @other_slices
// CHECK-COUNT-6: tensor.insert_slice
// CHECK-NOT:     tensor.insert_slice
func.func @other_slices(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %result = tensor.empty() : tensor<2x3xf32>
  %0 = tensor.extract_slice %x[0, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %1 = tensor.extract_slice %x[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %2 = tensor.extract_slice %y[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %a0 = tensor.insert_slice %1 into %result[0, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  %a1 = tensor.insert_slice %0 into %a0[1, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  %b0 = tensor.insert_slice %0 into %y[0, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  %c0 = tensor.insert_slice %0 into %result[0, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  %c1 = tensor.insert_slice %2 into %c0[1, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  %d0 = tensor.insert_slice %1 into %y[1, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  %d1 = tensor.insert_slice %1 into %d0[1, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  return %a1, %b0, %c1, %d1 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// A transposed slice, a slice whose elements are negated, and dynamic extents.
// CHECK-LABEL:   func.func @other_copies
// CHECK-COUNT-6: tensor.insert_slice
func.func @other_copies(%x: tensor<2x3x3xf32>, %d: tensor<2x?xf32>, %n: index) -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x?xf32>) {
  %space = tensor.empty() : tensor<3x3xf32>
  %result = tensor.empty() : tensor<2x3x3xf32>
  %0 = linalg.generic {indexing_maps = [#transposed, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<2x3x3xf32>) outs(%space : tensor<3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x3xf32>
  %1 = linalg.generic {indexing_maps = [#computed, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<2x3x3xf32>) outs(%space : tensor<3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x3xf32>
  %2 = linalg.generic {indexing_maps = [#first, #row], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<2x3x3xf32>) outs(%space : tensor<3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %negated = arith.negf %in : f32
    linalg.yield %negated : f32
  } -> tensor<3x3xf32>
  %a0 = tensor.insert_slice %0 into %result[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<3x3xf32> into tensor<2x3x3xf32>
  %a1 = tensor.insert_slice %1 into %a0[1, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<3x3xf32> into tensor<2x3x3xf32>
  %b0 = tensor.insert_slice %2 into %result[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<3x3xf32> into tensor<2x3x3xf32>
  %b1 = tensor.insert_slice %1 into %b0[1, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<3x3xf32> into tensor<2x3x3xf32>
  %open = tensor.empty(%n) : tensor<2x?xf32>
  %s0 = tensor.extract_slice %d[0, 0] [1, %n] [1, 1] : tensor<2x?xf32> to tensor<?xf32>
  %s1 = tensor.extract_slice %d[1, 0] [1, %n] [1, 1] : tensor<2x?xf32> to tensor<?xf32>
  %c0 = tensor.insert_slice %s0 into %open[0, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  %c1 = tensor.insert_slice %s1 into %c0[1, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  return %a1, %b1, %c1 : tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x?xf32>
}

#diagonal = affine_map<(i) -> (i, i)>
#index = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> (0, 0)>

// A diagonal, and an element that is repeated.
// CHECK-LABEL:   func.func @other_subscripts
// CHECK-COUNT-4: tensor.insert_slice
func.func @other_subscripts(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %space = tensor.empty() : tensor<2xf32>
  %result = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {indexing_maps = [#diagonal, #index], iterator_types = ["parallel"]}
    ins(%x : tensor<2x2xf32>) outs(%space : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [#scalar, #index], iterator_types = ["parallel"]}
    ins(%x : tensor<2x2xf32>) outs(%space : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2xf32>
  %second = tensor.extract_slice %x[1, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
  %a0 = tensor.insert_slice %0 into %result[0, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<2x2xf32>
  %a1 = tensor.insert_slice %second into %a0[1, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<2x2xf32>
  %b0 = tensor.insert_slice %1 into %result[0, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<2x2xf32>
  %b1 = tensor.insert_slice %second into %b0[1, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<2x2xf32>
  return %a1, %b1 : tensor<2x2xf32>, tensor<2x2xf32>
}
