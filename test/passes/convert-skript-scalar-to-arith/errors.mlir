// RUN: skript-opt %s --verify-diagnostics --convert-skript-scalar-to-arith

func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{tensors become linalg.generic first}}
  %0 = skript.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
