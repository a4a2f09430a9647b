// RUN: skript-opt %s --split-input-file --verify-diagnostics
// Convolutions: one violation of every constraint.

func.func @convolution_c1(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3xf32>) {
  // expected-error@+1 {{convolution_c1: both operands must have one rank of 2 at least, but are 'tensor<1x2x5x5xf32>' and 'tensor<3x2x3xf32>'}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c2(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c2: `window_strides` must have 2 entries, but has 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c3(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c3: `window_strides` must be positive, but is 0 along dimension 0 of the window}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c3_2(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c3: `window_strides` must be positive, but is -1 along dimension 1 of the window}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, -1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c4(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c4: `padding` must have shape [2, 2], but it has [1, 2]}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c5(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c5: `lhs_dilation` must have 2 entries, but has 3}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {lhs_dilate = [1, 1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c6(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c6: `lhs_dilation` must be positive, but is 0}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {lhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c7(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c7: `rhs_dilation` must have 2 entries, but has 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c8(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c8: `rhs_dilation` must be positive, but is -2}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {rhs_dilate = [1, -2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c9(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c9: `window_reversal` must have 2 entries, but has 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c10(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c10: `batch_group_count` is 2, but must divide the batches of the input, which are 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c11(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c11: `feature_group_count` is 3, but must divide the features of the input, which are 2}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c12(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c12: there must be 2 spatial dimensions of the input, but there are 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c13(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c13: `input` is [0, 1, 2, 4], but must name dimensions from 0 to below 4}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, ?, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c14(%x: tensor<1x2x5x5xf32>, %k: tensor<4x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c14: the kernel must have 1 features of the input, 2 in 2 groups, but has 2}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  return
}

// -----

func.func @convolution_c15(%x: tensor<2x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c15: `batch_group_count` is 2, but must divide the features of the output, which are 3}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c16(%x: tensor<1x2x5x5xf32>, %k: tensor<3x1x3x3xf32>) {
  // expected-error@+1 {{convolution_c16: `feature_group_count` is 2, but must divide the features of the output, which are 3}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x5x5xf32>, tensor<3x1x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c17(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c17: there must be 2 spatial dimensions of the kernel, but there are 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c18(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c18: `kernel` is [1, 0, 2, 4], but must name dimensions}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, ?, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c19(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c19: there must be 2 spatial dimensions of the output, but there are 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c20(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c20: `output` is [0, 1, 2, 4], but must name dimensions}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, ?, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c21(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c21: `feature_group_count` must be positive, but is 0}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c22(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c22: `batch_group_count` must be positive, but is 0}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 0 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c23(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c23: `feature_group_count` or `batch_group_count` must be 1, but they are 2 and 2}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c24(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c24: `precision_config` must have 2 entries, but has 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>]} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c25(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c25: the result is 'tensor<1x3x4x3xf32>', but its shape should be [1, 3, 3, 3]}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x3xf32>
  return
}

// -----

func.func @convolution_c25_2(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c25: the result is 'tensor<1x3x3x3xf32>', but its shape should be [1, 3, 0, 3]}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {rhs_dilate = [4, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c25_3(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c25: 64 bits do not hold the extents of the window along dimension 0: extent 5, window 3, padding [0, 0], dilations 1 and 9223372036854775807}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {rhs_dilate = [9223372036854775807, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c25_4(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c25: 64 bits do not hold the extents of the window along dimension 1}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 0], [9223372036854775807, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c26(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{convolution_c26: the result must have the rank of the operands, but is 'tensor<1x3x3xf32>' for 'tensor<1x2x5x5xf32>'}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3xf32>
  return
}

// -----

func.func @convolution_c27(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf64>) {
  // expected-error@+1 {{convolution_c27: element types differ}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf64>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_layout(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{`0` names two dimensions}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 0]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @reverse(%x: tensor<1x2x5x5xf32>, %k: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{expected true, false, 1 or 0}}
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {reverse = [0, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return
}
