func.func @main(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %fits = stablehlo.compare LE, %n, %eight, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%fits, %n) {error_message = "at most 8 rows, not {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %y:5 = call @wrapped(%n, %x) : (tensor<i32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x2xf32>, tensor<?x2xf32>)
  return %y#0, %y#1, %y#2, %y#3, %y#4 : tensor<?x2xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x2xf32>, tensor<?x2xf32>
}
func.func private @wrapped(%n: tensor<i32>, %x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %pair = stablehlo.constant dense<2> : tensor<1xi32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %from = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %nine = stablehlo.constant dense<9.0> : tensor<f32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %pair, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %count = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %all = stablehlo.dynamic_broadcast_in_dim %count, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
  %0 = stablehlo.add %x, %all : tensor<?x2xf32>
  %double = stablehlo.multiply %n, %two : tensor<i32>
  %length = stablehlo.reshape %double : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_reshape %x, %length : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.dynamic_iota %rows, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %3 = stablehlo.real_dynamic_slice %x, %from, %shape, %ones : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  %low = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %high = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %4 = stablehlo.dynamic_pad %x, %nine, %low, %high, %zeros : (tensor<?x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %0, %1, %2, %3, %4 : tensor<?x2xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x2xf32>, tensor<?x2xf32>
}
