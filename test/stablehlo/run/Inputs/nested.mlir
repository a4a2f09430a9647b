// A product beside a loop, and one in a branch of the loop.
func.func public @main(%a: tensor<2x2xf32>, %p: tensor<i1>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %product = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %last:2 = stablehlo.while(%carried = %a, %again = %p) : tensor<2x2xf32>, tensor<i1>
  cond {
    stablehlo.return %again : tensor<i1>
  } do {
    %chosen = "stablehlo.if"(%again) ({
      %square = stablehlo.dot_general %carried, %carried, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      stablehlo.return %square : tensor<2x2xf32>
    }, {
      stablehlo.return %carried : tensor<2x2xf32>
    }) : (tensor<i1>) -> tensor<2x2xf32>
    stablehlo.return %chosen, %false : tensor<2x2xf32>, tensor<i1>
  }
  return %product, %last#0 : tensor<2x2xf32>, tensor<2x2xf32>
}
