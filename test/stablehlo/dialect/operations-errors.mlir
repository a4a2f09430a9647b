// RUN: skript-opt %s --split-input-file --verify-diagnostics

func.func @compare_c1(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{compare_c1: element types differ}}
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_c2(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{compare_c2: operands and result must have one shape}}
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @select_c1(%p: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{select_c1: the condition must be a scalar}}
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @select_c2(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{select_c2: both values and the result}}
  %0 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @convert_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{convert_c1: operands and result must have one shape}}
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<5xi64>
  return
}

// -----

func.func @iota_c1() {
  // expected-error@+1 {{iota_c1: there is no dimension 2}}
  %0 = stablehlo.iota dim = 2 : tensor<4x8xi64>
  return
}

// -----

func.func @broadcast_in_dim_c1(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{broadcast_in_dim_c1: element types differ}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf64>
  return
}

// -----

func.func @broadcast_in_dim_c2(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{broadcast_in_dim_c2}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_in_dim_c3(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{broadcast_in_dim_c3: `dims` is [0, 2], but must name dimensions from 0 to below 2}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_in_dim_c5(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{broadcast_in_dim_c5: dimension 0 has extent 4}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{reshape_c1}}
  %0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf64>
  return
}

// -----

func.func @reshape_c2(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{reshape_c2}}
  %0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<31xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{transpose_c2}}
  %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @transpose_c3(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{transpose_c3: the result is}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @reverse_c3(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{reverse_c3: `dims` is [2], but must name dimensions from 0 to below 2}}
  %0 = stablehlo.reverse %x, dims = [2] : tensor<4x8xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{slice_c2}}
  %0 = stablehlo.slice %x [0:1] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{slice_c3: range 2:9 of dimension 1 leaves}}
  %0 = stablehlo.slice %x [0:4, 2:9] : (tensor<4x8xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @slice_c4(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{slice_c4}}
  %0 = stablehlo.slice %x [0:4, 2:8:0] : (tensor<4x8xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @slice_c5(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{slice_c5: the result is}}
  %0 = stablehlo.slice %x [0:4, 2:8:2] : (tensor<4x8xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{pad_c2}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{pad_c3}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0, 0], interior = [0, -1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{pad_c4: the result is}}
  %0 = stablehlo.pad %x, %s, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @concatenate_c6_across(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{concatenate_c6: 'tensor<4x8xf32>' does not fit 'tensor<8x9xf32>' in dimension 1}}
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

func.func @concatenate_c6_rank(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{concatenate_c6: ranks differ: 'tensor<4x8xf32>' and 'tensor<64xf32>'}}
  %0 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @concatenate_c2_rank(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // expected-error@+1 {{concatenate_c2: ranks differ: 'tensor<8xf32>' and 'tensor<4x8xf32>'}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @concatenate_c3() {
  // expected-error@+1 {{concatenate_c3}}
  %0 = stablehlo.concatenate dim = 0 : () -> tensor<8x9xf32>
  return
}

// -----

func.func @concatenate_c6(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{concatenate_c6}}
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{dynamic_slice_c2}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [1, 2] : (tensor<4x8xf32>, tensor<i32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @dynamic_update_slice_c4(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{dynamic_update_slice_c4: `start_indices` must have 2 entries, but has 1}}
  %0 = stablehlo.dynamic_update_slice %x, %x, %i : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @gather_c21(%x: tensor<4x8xf32>, %g: tensor<3x1xi64>) {
  // expected-error@+1 {{gather_c21}}
  %0 = "stablehlo.gather"(%x, %g) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>}> : (tensor<4x8xf32>, tensor<3x1xi64>) -> tensor<3x9xf32>
  return
}

// -----

func.func @reduce_c4(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{reduce_c4: `dimensions` is [2], but must name dimensions from 0 to below 2}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c7(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{reduce_c7}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @dot_general_c10(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{dot_general_c10: contracting extents differ}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @dot_general_c12(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{dot_general_c12}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @if_c2(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{if_c2: branch 1 must return ('tensor<4xf32>'), but returns ('tensor<5xf32>')}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %y : tensor<5xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @while_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{while_c1: the condition must return ('tensor<i1>'), but returns ('tensor<4xf32>')}}
  %0 = stablehlo.while(%y = %x) : tensor<4xf32>
   cond {
    stablehlo.return %y : tensor<4xf32>
  } do {
    stablehlo.return %y : tensor<4xf32>
  }
  return
}

// -----

// expected-error@+1 {{there is no field 'dims' here}}
func.func private @no_such_field() attributes {a = #stablehlo.dot<dims = [0]>}

// -----

func.func @layout(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{a dimension is missing}}
  %0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 0, 1]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @bitcast_convert_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{bitcast_convert_c1: 'tensor<4xf32>' has no 'tensor<4x3xi8>' of the same bits}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x3xi8>
  return
}

// -----

func.func @bitcast_convert_c1_rank(%x: tensor<i8>) {
  // expected-error@+1 {{bitcast_convert_c1}}
  %0 = stablehlo.bitcast_convert %x : (tensor<i8>) -> tensor<i32>
  return
}

// -----

func.func @bitcast_convert_c2(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{bitcast_convert_c2: both element types must be complex or none}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xcomplex<f32>>) -> tensor<4xi64>
  return
}

// -----

func.func @reduce_precision_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduce_precision_c1: operands and result must have one type}}
  %0 = stablehlo.reduce_precision %x, format = e8m7 : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @reduce_precision_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduce_precision_c2: there must be a bit of exponent at least}}
  %0 = stablehlo.reduce_precision %x, format = e0m7 : tensor<4xf32>
  return
}

// -----

func.func @reduce_precision_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduce_precision_c3: the number of bits of the mantissa is negative}}
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 8 : i32, mantissa_bits = -1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_precision_format(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected bits of exponent and mantissa such as e8m7, found m7}}
  %0 = stablehlo.reduce_precision %x, format = m7 : tensor<4xf32>
  return
}

// -----

func.func @optimization_barrier_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{optimization_barrier_c1: operands are 'tensor<4xf32>', results are 'tensor<4xf64>'}}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return
}
