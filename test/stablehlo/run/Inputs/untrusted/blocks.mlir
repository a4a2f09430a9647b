func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
^bb1:
  %0 = stablehlo.add %0, %0 : tensor<f32>
  return %0 : tensor<f32>
}
