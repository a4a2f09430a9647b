module {
  func.func private @sum_reduce_4(%arg0: tensor<6x5xf32>) -> tensor<1x5xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %splat = tensor.splat %cst : tensor<1x5xf32>
    %0 = skript.formula sum (%i, %j) in (6, 5) outs(%acc = %splat : tensor<1x5xf32>) do {
      %1 = skript.access %arg0[%i, %j] : tensor<6x5xf32>
      %c0 = arith.constant 0 : index
      skript.yield %1 at [%c0, %j] : f32
    } : tensor<1x5xf32>
    return %0 : tensor<1x5xf32>
  }
  func.func private @relu_3(%arg0: tensor<6x5xf32>) -> tensor<6x5xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %splat = tensor.splat %cst : tensor<6x5xf32>
    %0 = skript.formula assign (%i, %j) in (6, 5) outs(%acc = %splat : tensor<6x5xf32>) do {
      %1 = skript.access %arg0[%i, %j] : tensor<6x5xf32>
      %cst_0 = arith.constant 0.000000e+00 : f32
      %2 = skript.max %1, %cst_0 : f32
      skript.yield %2 at [%i, %j] : f32
    } : tensor<6x5xf32>
    return %0 : tensor<6x5xf32>
  }
  func.func private @linear_2(%arg0: tensor<6x4xf32>, %arg1: tensor<5x4xf32>, %arg2: tensor<5xf32>) -> tensor<6x5xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %splat = tensor.splat %cst : tensor<6x5xf32>
    %0 = skript.formula assign (%i, %j) in (6, 5) outs(%acc = %splat : tensor<6x5xf32>) do {
      %2 = skript.access %arg2[%j] : tensor<5xf32>
      skript.yield %2 at [%i, %j] : f32
    } : tensor<6x5xf32>
    %1 = skript.formula sum (%i, %j, %k) in (6, 5, 4) outs(%acc = %0 : tensor<6x5xf32>) do {
      %2 = skript.access %arg0[%i, %k] : tensor<6x4xf32>
      %3 = skript.access %arg1[%j, %k] : tensor<5x4xf32>
      %4 = skript.mul %2, %3 : f32
      skript.yield %4 at [%i, %j] : f32
    } : tensor<6x5xf32>
    return %1 : tensor<6x5xf32>
  }
  func.func private @blurred_1(%arg0: tensor<6x4xf32>) -> tensor<6x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %splat = tensor.splat %cst : tensor<6x4xf32>
    %0 = skript.formula sum (%i, %j, %k) in (6, 4, 3) outs(%acc = %splat : tensor<6x4xf32>) where {
      %1 = skript.add %i, %k : index
      %c1 = arith.constant 1 : index
      %2 = skript.sub %1, %c1 : index
      %c0 = arith.constant 0 : index
      %3 = skript.ge %2, %c0 : index
      %4 = skript.add %i, %k : index
      %c1_0 = arith.constant 1 : index
      %5 = skript.sub %4, %c1_0 : index
      %c6 = arith.constant 6 : index
      %6 = skript.lt %5, %c6 : index
      %7 = skript.and %3, %6 : i1
      skript.condition %7
    } do {
      %1 = skript.add %i, %k : index
      %c1 = arith.constant 1 : index
      %2 = skript.sub %1, %c1 : index
      %3 = skript.access %arg0[%2, %j] : tensor<6x4xf32>
      skript.yield %3 at [%i, %j] : f32
    } : tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
  func.func private @decayed_0(%arg0: tensor<6x4xf32>) -> tensor<6x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %splat = tensor.splat %cst : tensor<6x4xf32>
    %0 = skript.formula assign (%i, %j) in (6, 4) outs(%acc = %splat : tensor<6x4xf32>) do {
      %2 = skript.access %arg0[%i, %j] : tensor<6x4xf32>
      skript.yield %2 at [%i, %j] : f32
    } : tensor<6x4xf32>
    %1 = skript.formula replace (%i, %j) in (5, 4) outs(%acc = %0 : tensor<6x4xf32>) do {
      %cst_0 = arith.constant 5.000000e-01 : f32
      %2 = skript.access %acc[%i, %j] : tensor<6x4xf32>
      %3 = skript.mul %cst_0, %2 : f32
      %c1 = arith.constant 1 : index
      %4 = skript.add %i, %c1 : index
      %5 = skript.access %arg0[%4, %j] : tensor<6x4xf32>
      %6 = skript.add %3, %5 : f32
      %c1_1 = arith.constant 1 : index
      %7 = skript.add %i, %c1_1 : index
      skript.yield %6 at [%7, %j] : f32
    } : tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
  func.func @Net(%arg0: tensor<6x4xf32> {bufferization.writable = false, skript.name = "x", skript.role = "input"}, %arg1: tensor<5x4xf32> {bufferization.writable = false, skript.name = "net.Net.filter", skript.role = "variable"}, %arg2: tensor<5xf32> {bufferization.writable = false, skript.name = "net.Net.bias", skript.role = "variable"}) -> (tensor<6x5xf32> {skript.name = "y", skript.role = "output"}, tensor<1x5xf32> {skript.name = "total", skript.role = "output"}) attributes {skript.entry} {
    %0 = skript.invoke @decayed_0(%arg0) operator "net.decayed" {rate = 5.000000e-01 : f64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = skript.invoke @blurred_1(%0) operator "net.blurred" : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %2 = skript.invoke @linear_2(%1, %arg1, %arg2) operator "nn.linear" : (tensor<6x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<6x5xf32>
    %3 = skript.invoke @relu_3(%2) operator "nn.relu" {alpha, max} : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %4 = skript.invoke @sum_reduce_4(%3) operator "math.sum_reduce" {axes = [0], squeeze = false} : (tensor<6x5xf32>) -> tensor<1x5xf32>
    return %3, %4 : tensor<6x5xf32>, tensor<1x5xf32>
  }
}
