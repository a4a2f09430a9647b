module {
  func.func private @sum_reduce_4(%arg0: tensor<6x5xf32>) -> tensor<1x5xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %2 = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %2) applies stablehlo.add across dimensions = [0] : (tensor<6x5xf32>, tensor<f32>) -> tensor<5xf32>
    %4 = stablehlo.reshape %3 : (tensor<5xf32>) -> tensor<1x5xf32>
    %5 = stablehlo.add %1, %4 : tensor<1x5xf32>
    return %5 : tensor<1x5xf32>
  }
  func.func private @relu_3(%arg0: tensor<6x5xf32>) -> tensor<6x5xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
    %2 = stablehlo.maximum %arg0, %1 : tensor<6x5xf32>
    return %2 : tensor<6x5xf32>
  }
  func.func private @linear_2(%arg0: tensor<6x4xf32>, %arg1: tensor<5x4xf32>, %arg2: tensor<5xf32>) -> tensor<6x5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<5xf32>) -> tensor<6x5xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
    %2 = stablehlo.add %0, %1 : tensor<6x5xf32>
    return %2 : tensor<6x5xf32>
  }
  func.func private @blurred_1(%arg0: tensor<6x4xf32>) -> tensor<6x4xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %2 = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
    %3 = "stablehlo.reduce_window"(%arg0, %2) <{padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %5 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x4xf32>
    %4 = stablehlo.add %1, %3 : tensor<6x4xf32>
    return %4 : tensor<6x4xf32>
  }
  func.func private @decayed_0(%arg0: tensor<6x4xf32>) -> tensor<6x4xf32> {
    %0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.while(%iterArg = %0, %iterArg_0 = %arg0) : tensor<i64>, tensor<6x4xf32>
    cond {
      %2 = stablehlo.constant dense<5> : tensor<i64>
      %3 = stablehlo.compare LT, %iterArg, %2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %3 = stablehlo.reshape %iterArg : (tensor<i64>) -> tensor<1xi64>
      %4 = "stablehlo.gather"(%iterArg_0, %3) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<4xf32>
      %5 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %6 = stablehlo.multiply %5, %4 : tensor<4xf32>
      %7 = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg, %7 : tensor<i64>
      %9 = stablehlo.reshape %8 : (tensor<i64>) -> tensor<1xi64>
      %10 = "stablehlo.gather"(%arg0, %9) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<4xf32>
      %11 = stablehlo.add %6, %10 : tensor<4xf32>
      %12 = stablehlo.reshape %11 : (tensor<4xf32>) -> tensor<1x4xf32>
      %13 = stablehlo.dynamic_update_slice %iterArg_0, %12, %8, %0 : (tensor<6x4xf32>, tensor<1x4xf32>, tensor<i64>, tensor<i64>) -> tensor<6x4xf32>
      stablehlo.return %8, %13 : tensor<i64>, tensor<6x4xf32>
    }
    return %1#1 : tensor<6x4xf32>
  }
  func.func public @main(%arg0: tensor<6x4xf32>) -> (tensor<6x5xf32>, tensor<1x5xf32>) {
    %0 = stablehlo.constant dense<[[1.72910357, -1.42845345, 1.02774477, 1.88206911], [0.0751356483, 0.417215228, -1.82015097, 1.77404356], [0.456160605, -0.549271107, 1.00336039, -0.479590386], [-0.235962406, -8.236940e-01, 0.545856953, 0.484110832], [0.591613292, 0.157279745, 0.114384577, -0.02720052]]> : tensor<5x4xf32>
    %1 = stablehlo.constant dense<[0.875362932, 0.718551933, 1.50118852, 0.924078643, -0.943921625]> : tensor<5xf32>
    %2 = call @decayed_0(%arg0) : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %3 = call @blurred_1(%2) : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %4 = call @linear_2(%3, %0, %1) : (tensor<6x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<6x5xf32>
    %5 = call @relu_3(%4) : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %6 = call @sum_reduce_4(%5) : (tensor<6x5xf32>) -> tensor<1x5xf32>
    return %5, %6 : tensor<6x5xf32>, tensor<1x5xf32>
  }
}
