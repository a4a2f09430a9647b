// RUN: skript-opt %s --skript-factor-sums | FileCheck %s

// Nothing changes: the sum must keep its order, a factor or a subscript varies along both reductions, a factor is not a function of
// positions, a dimension is dynamic, the result is so much smaller than the image that sums of all rows are more work.
// CHECK-LABEL: func.func @ordered
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @ordered(%image: tensor<16x24xf32>, %start: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %taps = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%taps : tensor<2x2xf32>) outs(%start : tensor<32x48xf32>) {
  ^bb0(%t: f32, %s: f32):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y_half = arith.divui %y, %c2 : index
    %row = arith.addi %y_half, %i : index
    %row_inside = arith.minui %row, %c15 : index
    %x_half = arith.divui %x, %c2 : index
    %column = arith.addi %x_half, %j : index
    %column_inside = arith.minui %column, %c15 : index
    %i_integer = arith.index_cast %i : index to i64
    %u = arith.sitofp %i_integer : i64 to f32
    %element = tensor.extract %image[%row_inside, %column_inside] : tensor<16x24xf32>
    %p = arith.mulf %u, %element : f32
    %next = arith.addf %s, %p : f32
    linalg.yield %next : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// CHECK-LABEL: func.func @common_factor
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @common_factor(%image: tensor<16x24xf32>, %start: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %taps = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%taps : tensor<2x2xf32>) outs(%start : tensor<32x48xf32>) {
  ^bb0(%t: f32, %s: f32):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y_half = arith.divui %y, %c2 : index
    %row = arith.addi %y_half, %i : index
    %row_inside = arith.minui %row, %c15 : index
    %x_half = arith.divui %x, %c2 : index
    %column = arith.addi %x_half, %j : index
    %column_inside = arith.minui %column, %c15 : index
    %i_integer = arith.index_cast %i : index to i64
    %u = arith.sitofp %i_integer : i64 to f32
    %both = arith.addi %i, %j : index
    %integer = arith.index_cast %both : index to i64
    %v = arith.sitofp %integer : i64 to f32
    %element = tensor.extract %image[%row_inside, %column_inside] : tensor<16x24xf32>
    %p = arith.mulf %v, %element : f32
    %next = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// CHECK-LABEL: func.func @common_subscript
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @common_subscript(%image: tensor<16x24xf32>, %start: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %taps = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%taps : tensor<2x2xf32>) outs(%start : tensor<32x48xf32>) {
  ^bb0(%t: f32, %s: f32):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y_half = arith.divui %y, %c2 : index
    %row = arith.addi %y_half, %i : index
    %row_inside = arith.minui %row, %c15 : index
    %x_half = arith.divui %x, %c2 : index
    %column = arith.addi %i, %j : index
    %column_inside = arith.minui %column, %c15 : index
    %i_integer = arith.index_cast %i : index to i64
    %u = arith.sitofp %i_integer : i64 to f32
    %element = tensor.extract %image[%row_inside, %column_inside] : tensor<16x24xf32>
    %p = arith.mulf %u, %element : f32
    %next = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// CHECK-LABEL: func.func @data
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @data(%image: tensor<16x24xf32>, %start: tensor<32x48xf32>, %weights: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %taps = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>, affine_map<(y, x, i, j) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%taps, %weights : tensor<2x2xf32>, tensor<32x48xf32>) outs(%start : tensor<32x48xf32>) {
  ^bb0(%t: f32, %weight: f32, %s: f32):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y_half = arith.divui %y, %c2 : index
    %row = arith.addi %y_half, %i : index
    %row_inside = arith.minui %row, %c15 : index
    %x_half = arith.divui %x, %c2 : index
    %column = arith.addi %x_half, %j : index
    %column_inside = arith.minui %column, %c15 : index
    %i_integer = arith.index_cast %i : index to i64
    %u = arith.sitofp %i_integer : i64 to f32
    %element = tensor.extract %image[%row_inside, %column_inside] : tensor<16x24xf32>
    %p = arith.mulf %weight, %element : f32
    %next = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @dynamic(%image: tensor<16x24xf32>, %start: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %taps = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%taps : tensor<2x2xf32>) outs(%start : tensor<?x48xf32>) {
  ^bb0(%t: f32, %s: f32):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y_half = arith.divui %y, %c2 : index
    %row = arith.addi %y_half, %i : index
    %row_inside = arith.minui %row, %c15 : index
    %x_half = arith.divui %x, %c2 : index
    %column = arith.addi %x_half, %j : index
    %column_inside = arith.minui %column, %c15 : index
    %i_integer = arith.index_cast %i : index to i64
    %u = arith.sitofp %i_integer : i64 to f32
    %element = tensor.extract %image[%row_inside, %column_inside] : tensor<16x24xf32>
    %p = arith.mulf %u, %element : f32
    %next = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: func.func @smaller
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @smaller(%image: tensor<16x24xf32>, %start: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %taps = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(y, x, i, j) -> (i, j)>, affine_map<(y, x, i, j) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%taps : tensor<2x2xf32>) outs(%start : tensor<4x6xf32>) {
  ^bb0(%t: f32, %s: f32):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %y_half = arith.muli %y, %c2 : index
    %row = arith.addi %y_half, %i : index
    %row_inside = arith.minui %row, %c15 : index
    %x_half = arith.muli %x, %c2 : index
    %column = arith.addi %x_half, %j : index
    %column_inside = arith.minui %column, %c15 : index
    %i_integer = arith.index_cast %i : index to i64
    %u = arith.sitofp %i_integer : i64 to f32
    %element = tensor.extract %image[%row_inside, %column_inside] : tensor<16x24xf32>
    %p = arith.mulf %u, %element : f32
    %next = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
