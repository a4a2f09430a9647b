// RUN: skript-opt %s --split-input-file --verify-diagnostics
// Types and lists of dimensions of the others: violations of their constraints.

func.func @compare_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{compare_c3: elements of 'f32' compare FLOAT or TOTALORDER, not SIGNED}}
  %r = stablehlo.compare LT, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_c3_2(%x: tensor<4xi32>) {
  // expected-error@+1 {{compare_c3: elements of 'i32' compare SIGNED, not UNSIGNED}}
  %r = stablehlo.compare LT, %x, %x, UNSIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_c3_3(%x: tensor<4xi1>) {
  // expected-error@+1 {{compare_c3: elements of 'i1' compare UNSIGNED, not SIGNED}}
  %r = stablehlo.compare LT, %x, %x, SIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_c3_4(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{compare_c3: elements of 'complex<f32>' compare FLOAT, not TOTALORDER}}
  %r = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return
}

// -----

func.func @clamp_c1(%l: tensor<3xf32>, %x: tensor<4xf32>, %h: tensor<4xf32>) {
  // expected-error@+1 {{clamp_c1: a bound must be a scalar or have the shape of 'tensor<4xf32>', but is 'tensor<3xf32>'}}
  %r = stablehlo.clamp %l, %x, %h : (tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_c2(%l: tensor<4xf32>, %x: tensor<4xf32>, %h: tensor<3xf32>) {
  // expected-error@+1 {{clamp_c2: a bound must be a scalar or have the shape of 'tensor<4xf32>', but is 'tensor<3xf32>'}}
  %r = stablehlo.clamp %l, %x, %h : (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_c3(%l: tensor<f64>, %x: tensor<4xf32>, %h: tensor<4xf32>) {
  // expected-error@+1 {{clamp_c3: element types differ: 'tensor<f64>' and 'tensor<4xf32>'}}
  %r = stablehlo.clamp %l, %x, %h : (tensor<f64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_c4(%l: tensor<4xf32>, %x: tensor<4xf32>, %h: tensor<4xf32>) {
  // expected-error@+1 {{clamp_c4: the result is 'tensor<5xf32>', but its shape should be [4]}}
  %r = stablehlo.clamp %l, %x, %h : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @clamp_c4_2(%l: tensor<4xf32>, %x: tensor<4xf32>, %h: tensor<4xf32>) {
  // expected-error@+1 {{clamp_c4: element types differ}}
  %r = stablehlo.clamp %l, %x, %h : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @real_c2(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{real_c2: for 'tensor<4xcomplex<f32>>' the result's element type must be 'f32', but it is 'tensor<4xf64>'}}
  %r = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @imag_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{imag_c2: for 'tensor<4xf32>' the result's element type must be 'f32'}}
  %r = stablehlo.imag %x : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @complex_c1(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{complex_c1: element types differ}}
  %r = stablehlo.complex %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @complex_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{complex_c3: the result's elements must be complex of 'f32', but it is 'tensor<4xcomplex<f64>>'}}
  %r = stablehlo.complex %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f64>>
  return
}

// -----

func.func @iota_pred() {
  // expected-error@+1 {{result #0 must be ranked tensor of}}
  %r = stablehlo.iota dim = 0 : tensor<4xi1>
  return
}

// -----

func.func @broadcast_in_dim_c4(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{broadcast_in_dim_c4: `dims` is [0, 0], but must name distinct dimensions: 0 comes twice}}
  %r = stablehlo.broadcast_in_dim %x, dims = [0, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{transpose_c1: element types differ}}
  %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf64>
  return
}

// -----

func.func @reverse_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{reverse_c1: operand and result must have one type, but are 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %r = stablehlo.reverse %x, dims = [0] : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reverse_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{reverse_c2: `dims` is [0, 0], but must name distinct dimensions}}
  %r = stablehlo.reverse %x, dims = [0, 0] : tensor<4xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{slice_c1: element types differ}}
  %r = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @pad_c1(%x: tensor<4xf32>, %s: tensor<f64>) {
  // expected-error@+1 {{pad_c1: element types differ}}
  %r = stablehlo.pad %x, %s, low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_c1_2(%x: tensor<4xf32>) {
  // expected-error@+1 {{pad_c1: the padding value must be a tensor without dimensions, but is 'tensor<4xf32>'}}
  %r = stablehlo.pad %x, %x, low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{pad_c4: extent 4 of dimension 0 with paddings -9, 0 and 0 inside gives none that a tensor can have}}
  %r = stablehlo.pad %x, %s, low = [-9], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @pad_c4_2(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{pad_c4: extent 4 of dimension 0 with paddings 0, 0 and 9223372036854775807 inside gives none that a tensor can have}}
  %r = stablehlo.pad %x, %s, low = [0], high = [0], interior = [9223372036854775807] : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @concatenate_c1(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{concatenate_c1: element types differ}}
  %r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4xf32>, tensor<4xf64>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate_c2(%x: tensor<4x8xf32>, %y: tensor<4x9xf32>) {
  // expected-error@+1 {{concatenate_c2: 'tensor<4x9xf32>' does not fit 'tensor<4x8xf32>' in dimension 1}}
  %r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<4x9xf32>) -> tensor<8x?xf32>
  return
}

// -----

func.func @concatenate_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{concatenate_c4: there is no dimension -1 in 'tensor<4xf32>'}}
  %r = stablehlo.concatenate %x, %x, dim = -1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{concatenate_c5: element types differ}}
  %r = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @dot_general_c1(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c1: as many batching dimensions are needed on both sides, but there are 1 and 0}}
  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [], contracting_dims = [] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c2(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c2: as many contracting dimensions are needed on both sides, but there are 1 and 0}}
  %r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c3(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c3: `lhs_batching_dimensions` is [0] and `lhs_contracting_dimensions` is [0], but must name distinct dimensions: 0 comes twice}}
  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c4(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{dot_general_c4: `rhs_contracting_dimensions` is [0, 0], but must name distinct dimensions: 0 comes twice}}
  %r = stablehlo.dot_general %x, %x, contracting_dims = [0, 1] x [0, 0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c5(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c5: `lhs_batching_dimensions` is [3], but must name dimensions from 0 to below 1}}
  %r = stablehlo.dot_general %x, %y, batching_dims = [3] x [0], contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c6(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c6: `lhs_contracting_dimensions` is [-1], but must name dimensions from 0 to below 1}}
  %r = stablehlo.dot_general %x, %y, contracting_dims = [-1] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c7(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c7: `rhs_batching_dimensions` is [3]}}
  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [3], contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c8(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c8: `rhs_contracting_dimensions` is [5], but must name dimensions from 0 to below 1}}
  %r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [5] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c9(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{dot_general_c9: batching extents differ: 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dot_general_c11(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{dot_general_c11: `precision_config` must have 2 entries, but has 1}}
  %r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0], precision = [HIGH] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @dot_general_c13(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{dot_general_c13: element types differ: 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf64>) -> tensor<f32>
  return
}

// -----

func.func @fft_c1(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{fft_c1: `fft_length` has 2 entries, but operand and result are 'tensor<8xcomplex<f32>>'}}
  %r = stablehlo.fft %x, type = FFT, length = [8, 8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @fft_c2(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{fft_c2: RFFT is from real to complex elements of one precision, but operand and result are}}
  %r = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @fft_c2_2(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{fft_c2: FFT is from complex to complex elements of one precision}}
  %r = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f64>>
  return
}

// -----

func.func @fft_c3(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{fft_c3: `fft_length` must have 1 to 3 entries, but has 0}}
  %r = stablehlo.fft %x, type = FFT, length = [] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @fft_c4(%x: tensor<8xf32>) {
  // expected-error@+1 {{fft_c4: `fft_length` is [6], but the last extents of 'tensor<8xf32>' must be the same}}
  %r = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @fft_c4_complex(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{fft_c4: `fft_length` is [4], but the last extents of 'tensor<8xcomplex<f32>>' must be the same}}
  %r = stablehlo.fft %x, type = FFT, length = [4] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @fft_c4_several(%x: tensor<3x4x8xcomplex<f64>>) {
  // expected-error@+1 {{fft_c4: `fft_length` is [8, 4], but the last extents of 'tensor<3x4x8xcomplex<f64>>' must be the same}}
  %r = stablehlo.fft %x, type = IFFT, length = [8, 4] : (tensor<3x4x8xcomplex<f64>>) -> tensor<3x4x8xcomplex<f64>>
  return
}

// -----

func.func @fft_c5(%x: tensor<8xf32>) {
  // expected-error@+1 {{fft_c5: the result is 'tensor<8xcomplex<f32>>', but its shape should be [5]}}
  %r = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @fft_c5_2(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{fft_c5: the operand is 'tensor<8xcomplex<f32>>', but its shape should be [5]}}
  %r = stablehlo.fft %x, type = IRFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  return
}

// -----

func.func @rng_bit_generator_c1(%s: tensor<2xui64>) {
  // expected-error@+1 {{rng_bit_generator_c1: both states must have one type, but are 'tensor<2xui64>' and 'tensor<3xui64>'}}
  %r:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<3xui64>, tensor<3xui32>)
  return
}

// -----

func.func @rng_bit_generator_elements(%s: tensor<2xui64>) {
  // expected-error@+1 {{'stablehlo.rng_bit_generator' op result #1 must be ranked tensor of}}
  %r:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xi1>)
  return
}
