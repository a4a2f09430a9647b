// RUN: skript-opt %s --split-input-file --verify-diagnostics --convert-stablehlo-to-skript

// One diagnostic lists all unsupported operations, and no others.
func.func @main(%x: tensor<2x2xf32>, %u: tensor<4xui8>, %z: tensor<4xcomplex<f32>>) -> tensor<2x2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2x2xf32>
  // expected-error @+1 {{'stablehlo.dot_general' op has no form in the skript dialect; without one are `stablehlo.dot_general` (lines 7 and 8), `stablehlo.add` (lines 9 and 10)}}
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.add %u, %u : tensor<4xui8>
  %4 = stablehlo.add %z, %z : tensor<4xcomplex<f32>>
  return %2 : tensor<2x2xf32>
}

// -----

// A near miss: dimensions of one element come and go, others do not.
func.func @main(%x: tensor<2x1x3xf32>) -> (tensor<1x2x3xf32>, tensor<6xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  // expected-error @+1 {{`stablehlo.reshape` (line 20)}}
  %1 = stablehlo.reshape %x : (tensor<2x1x3xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<1x2x3xf32>, tensor<6xf32>
}

// -----

// There are no unsigned elements.
func.func @main(%x: tensor<4xui32>) -> tensor<4xi1> {
  // expected-error @+1 {{'stablehlo.compare' op has no form in the skript dialect}}
  %0 = stablehlo.compare LT, %x, %x, UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
