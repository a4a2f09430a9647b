func.func @main() -> tensor<f32> {
  %0 = "\61rith.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  return %0 : tensor<f32>
}
