// RUN: skript-opt %s --verify-diagnostics --convert-skript-elementwise-to-formula

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{is elementwise but its results are not all ranked tensors}}
  %0 = math.exp %x : tensor<*xf32>
  return %0 : tensor<*xf32>
}
