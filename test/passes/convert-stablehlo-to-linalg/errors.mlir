// RUN: skript-opt %s --split-input-file --verify-diagnostics --convert-stablehlo-to-linalg

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{has an extent known only at run time}}
  %0 = stablehlo.reverse %x, dims = [0] : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @widths(%x: tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f32>> {
  // expected-error @+1 {{is not supported between complex types of different widths}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}

// -----

func.func @random(%x: tensor<3xui64>) -> tensor<4xui32> {
  // expected-error @+1 {{supports no such state: it is tensor<2xui64>, or tensor<3xui64> for PHILOX and DEFAULT}}
  %0, %1 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %1 : tensor<4xui32>
}

// -----

func.func @body(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{has a body with `stablehlo.iota`, which is not an operation on single elements}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %i = stablehlo.iota dim = 0 : tensor<4xf32>
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @wider(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f64> {
  // expected-error @+1 {{has a body on elements of f64 for an input of f32: convert the input before it}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    stablehlo.return %a : tensor<f64>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f64>
  return %0 : tensor<f64>
}
