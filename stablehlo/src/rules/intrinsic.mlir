func.func @largest(%x: tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) attributes {skript.entry} {
  %v = tensor.empty() : tensor<3x2xf32>
  %p = tensor.empty() : tensor<3x2xi64>
  %r:2 = skript.intrinsic "algo.top_k" ins(%x : tensor<3x8xf32>) outs(%v, %p : tensor<3x2xf32>, tensor<3x2xi64>) {
    operator_attributes = {axis = 1 : i64, k = 2 : i64, largest = true, sorted = true}
  } -> tensor<3x2xf32>, tensor<3x2xi64>
  return %r#0, %r#1 : tensor<3x2xf32>, tensor<3x2xi64>
}
