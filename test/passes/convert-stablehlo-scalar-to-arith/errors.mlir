// RUN: skript-opt %s --split-input-file --verify-diagnostics --convert-stablehlo-scalar-to-arith

func.func @remainder_of_pairs(%x: complex<f32>) -> complex<f32> {
  // expected-error @+1 {{has no form on these operands}}
  %0 = stablehlo.remainder %x, %x : complex<f32>
  return %0 : complex<f32>
}
