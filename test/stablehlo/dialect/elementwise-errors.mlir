// RUN: skript-opt %s --split-input-file --verify-diagnostics
// One violation of the first constraint of every elementwise operation beyond the draft's.

func.func @atan2_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.atan2' op atan2_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.atan2 %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @divide_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.divide' op divide_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.divide %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @multiply_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.multiply' op multiply_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.multiply %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @power_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.power' op power_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.power %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @remainder_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.remainder' op remainder_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.remainder %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @subtract_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.subtract' op subtract_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.subtract %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @shift_left_c1(%x: tensor<2xui32>, %y: tensor<3xui32>) {
  // expected-error@+1 {{'stablehlo.shift_left' op shift_left_c1: operands and result must have one type, but there are 'tensor<2xui32>' and 'tensor<3xui32>'}}
  %0 = stablehlo.shift_left %x, %y : (tensor<2xui32>, tensor<3xui32>) -> tensor<2xui32>
  return
}

// -----

func.func @shift_right_arithmetic_c1(%x: tensor<2xui32>, %y: tensor<3xui32>) {
  // expected-error@+1 {{'stablehlo.shift_right_arithmetic' op shift_right_arithmetic_c1: operands and result must have one type, but there are 'tensor<2xui32>' and 'tensor<3xui32>'}}
  %0 = stablehlo.shift_right_arithmetic %x, %y : (tensor<2xui32>, tensor<3xui32>) -> tensor<2xui32>
  return
}

// -----

func.func @shift_right_logical_c1(%x: tensor<2xui32>, %y: tensor<3xui32>) {
  // expected-error@+1 {{'stablehlo.shift_right_logical' op shift_right_logical_c1: operands and result must have one type, but there are 'tensor<2xui32>' and 'tensor<3xui32>'}}
  %0 = stablehlo.shift_right_logical %x, %y : (tensor<2xui32>, tensor<3xui32>) -> tensor<2xui32>
  return
}

// -----

func.func @cbrt_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.cbrt' op cbrt_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.cbrt %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @exponential_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.exponential' op exponential_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.exponential %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @exponential_minus_one_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.exponential_minus_one' op exponential_minus_one_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.exponential_minus_one %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @log_plus_one_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.log_plus_one' op log_plus_one_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.log_plus_one %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @tan_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.tan' op tan_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.tan %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @sign_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.sign' op sign_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.sign %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @round_nearest_afz_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.round_nearest_afz' op round_nearest_afz_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf16>'}}
  %0 = stablehlo.round_nearest_afz %x : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @round_nearest_even_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.round_nearest_even' op round_nearest_even_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf16>'}}
  %0 = stablehlo.round_nearest_even %x : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @count_leading_zeros_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.count_leading_zeros' op count_leading_zeros_c1: operands and result must have one type, but there are 'tensor<2xi32>' and 'tensor<2xui32>'}}
  %0 = stablehlo.count_leading_zeros %x : (tensor<2xi32>) -> tensor<2xui32>
  return
}

// -----

func.func @popcnt_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.popcnt' op popcnt_c1: operands and result must have one type, but there are 'tensor<2xi32>' and 'tensor<2xui32>'}}
  %0 = stablehlo.popcnt %x : (tensor<2xi32>) -> tensor<2xui32>
  return
}

// -----

func.func @real_c1(%x: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.real' op real_c1: operands and result must have one shape, but there are 'tensor<2xcomplex<f32>>' and 'tensor<3xf32>'}}
  %0 = stablehlo.real %x : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @imag_c1(%x: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.imag' op imag_c1: operands and result must have one shape, but there are 'tensor<2xcomplex<f32>>' and 'tensor<3xf32>'}}
  %0 = stablehlo.imag %x : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @is_finite_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.is_finite' op is_finite_c1: operands and result must have one shape, but there are 'tensor<2xf32>' and 'tensor<3xi1>'}}
  %0 = stablehlo.is_finite %x : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @complex_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.complex' op complex_c1: operands must have one shape, but are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.complex %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @complex_c2(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.complex' op complex_c2: operands and result must have one shape, but are 'tensor<2xf32>' and 'tensor<3xcomplex<f32>>'}}
  %0 = stablehlo.complex %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>
  return
}
