// Branches in branches of a loop that choose among fills and what the loop carries, by the number of the turn.
func.func public @main(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %turns: tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %last:3 = stablehlo.while(%x = %a, %y = %b, %turn = %none) : tensor<2x2xf32>, tensor<2x2xf32>, tensor<i32>
  cond {
    %again = stablehlo.compare LT, %turn, %turns, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %again : tensor<i1>
  } do {
    %later = stablehlo.compare GT, %turn, %none, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %halves = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %which = stablehlo.convert %later : (tensor<i1>) -> tensor<i32>
    %chosen:2 = "stablehlo.case"(%which) ({
      %inner:2 = "stablehlo.case"(%which) ({
        stablehlo.return %x, %halves : tensor<2x2xf32>, tensor<2x2xf32>
      }, {
        %one = stablehlo.constant dense<0.5> : tensor<f32>
        %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %sum = stablehlo.reduce(%halves init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
        %sums = stablehlo.broadcast_in_dim %sum, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
        stablehlo.return %ones, %sums : tensor<2x2xf32>, tensor<2x2xf32>
      }) : (tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
      stablehlo.return %inner#0, %inner#1 : tensor<2x2xf32>, tensor<2x2xf32>
    }, {
      %fill = stablehlo.constant dense<0.5> : tensor<f32>
      %filled = stablehlo.broadcast_in_dim %fill, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
      stablehlo.return %filled, %halves : tensor<2x2xf32>, tensor<2x2xf32>
    }) : (tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %turn, %one : tensor<i32>
    stablehlo.return %chosen#0, %chosen#1, %next : tensor<2x2xf32>, tensor<2x2xf32>, tensor<i32>
  }
  return %last#0, %last#1 : tensor<2x2xf32>, tensor<2x2xf32>
}
