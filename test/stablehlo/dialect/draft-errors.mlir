// RUN: skript-opt %s --split-input-file --verify-diagnostics
// One violation of every constraint of the draft, by its label, then of its element types.

func.func @abs_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.abs' op abs_c1: operand and result must have one shape, but are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.abs %x : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @abs_c2(%x: tensor<2xcomplex<f64>>) {
  // expected-error@+1 {{'stablehlo.abs' op abs_c2: for 'tensor<2xcomplex<f64>>' the result's element type must be 'f64', but it is 'tensor<2xf32>'}}
  %0 = stablehlo.abs %x : (tensor<2xcomplex<f64>>) -> tensor<2xf32>
  return
}

// -----

func.func @abs_c2_complex(%x: tensor<2xcomplex<f64>>) {
  // expected-error@+1 {{'stablehlo.abs' op abs_c2: for 'tensor<2xcomplex<f64>>' the result's element type must be 'f64', but it is 'tensor<2xcomplex<f64>>'}}
  %0 = stablehlo.abs %x : tensor<2xcomplex<f64>>
  return
}

// -----

func.func @add_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.add' op add_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @and_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.and' op and_c1: operands and result must have one type, but there are 'tensor<2xi32>' and 'tensor<2xi64>'}}
  %0 = stablehlo.and %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @ceil_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.ceil' op ceil_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.ceil %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @cosine_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.cosine' op cosine_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.cosine %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @floor_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.floor' op floor_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.floor %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @log_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.log' op log_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.log %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @logistic_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.logistic' op logistic_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.logistic %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @maximum_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.maximum' op maximum_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.maximum %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @minimum_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.minimum' op minimum_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.minimum %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @negate_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.negate' op negate_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.negate %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @not_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.not' op not_c1: operands and result must have one type, but there are 'tensor<2xi32>' and 'tensor<2xi64>'}}
  %0 = stablehlo.not %x : (tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @or_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.or' op or_c1: operands and result must have one type, but there are 'tensor<2xi32>' and 'tensor<2xi64>'}}
  %0 = stablehlo.or %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @rsqrt_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.rsqrt' op rsqrt_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.rsqrt %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @sine_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.sine' op sine_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.sine %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @sqrt_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.sqrt' op sqrt_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.sqrt %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @tanh_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.tanh' op tanh_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %0 = stablehlo.tanh %x : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @xor_c1(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.xor' op xor_c1: operands and result must have one type, but there are 'tensor<2xi32>' and 'tensor<2xi64>'}}
  %0 = stablehlo.xor %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @constant_c1() {
  // expected-error@+1 {{'stablehlo.constant' op constant_c1: value and result must have one type, but are 'tensor<2xi32>' and 'tensor<3xi32>'}}
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<3xi32>
  return
}

// -----

func.func @add_of_shapes(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{add_c1: operands and result must have one type, but there are 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = stablehlo.add %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @floor_of_integers(%x: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.floor' op operand #0 must be}}
  %0 = stablehlo.floor %x : tensor<2xi32>
  return
}

// -----

func.func @and_of_floats(%x: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.and' op operand #0 must be}}
  %0 = stablehlo.and %x, %x : tensor<2xf32>
  return
}

// -----

func.func @negation_of_preds(%x: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.negate' op operand #0 must be}}
  %0 = stablehlo.negate %x : tensor<2xi1>
  return
}

// -----

func.func @odd_width(%x: tensor<2xi24>) {
  // expected-error@+1 {{'stablehlo.abs' op operand #0 must be}}
  %0 = stablehlo.abs %x : tensor<2xi24>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error@+1 {{'stablehlo.tanh' op operand #0 must be}}
  %0 = stablehlo.tanh %x : tensor<*xf32>
  return
}

// -----

func.func @missing_operand(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected 2 operand types and one result type}}
  %0 = stablehlo.add %x, %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}
