module {
  func.func private @sum_reduce_4(%arg0: tensor<?x5xf32>) -> tensor<1x5xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x5xf32>
    %c0_0 = arith.constant 0 : index
    %0 = arith.maxsi %dim, %c0_0 : index
    %c16 = arith.constant 16 : index
    %1 = arith.minsi %0, %c16 : index
    %c0_1 = arith.constant 0 : index
    %2 = arith.maxsi %1, %c0_1 : index
    %c16_2 = arith.constant 16 : index
    %3 = arith.minsi %2, %c16_2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %splat = tensor.splat %cst : tensor<1x5xf32>
    %4 = skript.formula sum (%i, %j) in (%3, 5) outs(%acc = %splat : tensor<1x5xf32>) do {
      %5 = skript.access %arg0[%i, %j] : tensor<?x5xf32>
      %c0_3 = arith.constant 0 : index
      skript.yield %5 at [%c0_3, %j] : f32
    } : tensor<1x5xf32>
    return %4 : tensor<1x5xf32>
  }
  func.func private @relu_3(%arg0: tensor<?x5xf32>) -> tensor<?x5xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x5xf32>
    %c0_0 = arith.constant 0 : index
    %0 = arith.maxsi %dim, %c0_0 : index
    %c16 = arith.constant 16 : index
    %1 = arith.minsi %0, %c16 : index
    %c0_1 = arith.constant 0 : index
    %2 = arith.maxsi %1, %c0_1 : index
    %c16_2 = arith.constant 16 : index
    %3 = arith.minsi %2, %c16_2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0_3 = arith.constant 0 : index
    %4 = arith.maxsi %1, %c0_3 : index
    %c16_4 = arith.constant 16 : index
    %5 = arith.minsi %4, %c16_4 : index
    %splat = tensor.splat %cst[%5] : tensor<?x5xf32>
    %6 = skript.formula assign (%i, %j) in (%3, 5) outs(%acc = %splat : tensor<?x5xf32>) do {
      %7 = skript.access %arg0[%i, %j] : tensor<?x5xf32>
      %cst_5 = arith.constant 0.000000e+00 : f32
      %8 = skript.max %7, %cst_5 : f32
      skript.yield %8 at [%i, %j] : f32
    } : tensor<?x5xf32>
    return %6 : tensor<?x5xf32>
  }
  func.func private @linear_2(%arg0: tensor<?x4xf32>, %arg1: tensor<5x4xf32>, %arg2: tensor<5xf32>) -> tensor<?x5xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %c0_0 = arith.constant 0 : index
    %0 = arith.maxsi %dim, %c0_0 : index
    %c16 = arith.constant 16 : index
    %1 = arith.minsi %0, %c16 : index
    %c0_1 = arith.constant 0 : index
    %2 = arith.maxsi %1, %c0_1 : index
    %c16_2 = arith.constant 16 : index
    %3 = arith.minsi %2, %c16_2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0_3 = arith.constant 0 : index
    %4 = arith.maxsi %1, %c0_3 : index
    %c16_4 = arith.constant 16 : index
    %5 = arith.minsi %4, %c16_4 : index
    %splat = tensor.splat %cst[%5] : tensor<?x5xf32>
    %6 = skript.formula assign (%i, %j) in (%3, 5) outs(%acc = %splat : tensor<?x5xf32>) do {
      %10 = skript.access %arg2[%j] : tensor<5xf32>
      skript.yield %10 at [%i, %j] : f32
    } : tensor<?x5xf32>
    %c0_5 = arith.constant 0 : index
    %7 = arith.maxsi %1, %c0_5 : index
    %c16_6 = arith.constant 16 : index
    %8 = arith.minsi %7, %c16_6 : index
    %9 = skript.formula sum (%i, %j, %k) in (%8, 5, 4) outs(%acc = %6 : tensor<?x5xf32>) do {
      %10 = skript.access %arg0[%i, %k] : tensor<?x4xf32>
      %11 = skript.access %arg1[%j, %k] : tensor<5x4xf32>
      %12 = skript.mul %10, %11 : f32
      skript.yield %12 at [%i, %j] : f32
    } : tensor<?x5xf32>
    return %9 : tensor<?x5xf32>
  }
  func.func private @blurred_1(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %c0_0 = arith.constant 0 : index
    %0 = arith.maxsi %dim, %c0_0 : index
    %c16 = arith.constant 16 : index
    %1 = arith.minsi %0, %c16 : index
    %c0_1 = arith.constant 0 : index
    %2 = arith.maxsi %1, %c0_1 : index
    %c16_2 = arith.constant 16 : index
    %3 = arith.minsi %2, %c16_2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0_3 = arith.constant 0 : index
    %4 = arith.maxsi %1, %c0_3 : index
    %c16_4 = arith.constant 16 : index
    %5 = arith.minsi %4, %c16_4 : index
    %splat = tensor.splat %cst[%5] : tensor<?x4xf32>
    %c0_5 = arith.constant 0 : index
    %6 = arith.maxsi %1, %c0_5 : index
    %c16_6 = arith.constant 16 : index
    %7 = arith.minsi %6, %c16_6 : index
    %8 = skript.formula sum (%i, %j, %k) in (%3, 4, 3) outs(%acc = %splat : tensor<?x4xf32>) where {
      %9 = skript.add %i, %k : index
      %c1 = arith.constant 1 : index
      %10 = skript.sub %9, %c1 : index
      %c0_7 = arith.constant 0 : index
      %11 = skript.ge %10, %c0_7 : index
      %12 = skript.add %i, %k : index
      %c1_8 = arith.constant 1 : index
      %13 = skript.sub %12, %c1_8 : index
      %14 = skript.lt %13, %7 : index
      %15 = skript.and %11, %14 : i1
      skript.condition %15
    } do {
      %9 = skript.add %i, %k : index
      %c1 = arith.constant 1 : index
      %10 = skript.sub %9, %c1 : index
      %11 = skript.access %arg0[%10, %j] : tensor<?x4xf32>
      skript.yield %11 at [%i, %j] : f32
    } : tensor<?x4xf32>
    return %8 : tensor<?x4xf32>
  }
  func.func private @decayed_0(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %c0_0 = arith.constant 0 : index
    %0 = arith.maxsi %dim, %c0_0 : index
    %c16 = arith.constant 16 : index
    %1 = arith.minsi %0, %c16 : index
    %c1 = arith.constant 1 : index
    %2 = skript.sub %1, %c1 : index
    %c0_1 = arith.constant 0 : index
    %3 = skript.le %2, %c0_1 : index
    %c1_2 = arith.constant 1 : index
    %4 = skript.sub %1, %c1_2 : index
    %5 = skript.lt %4, %1 : index
    %6 = skript.or %3, %5 : i1
    %c1_3 = arith.constant 1 : index
    %c1_4 = arith.constant 1 : index
    %7 = skript.sub %1, %c1_4 : index
    %8 = arith.index_cast %c1_3 : index to i64
    %9 = arith.index_cast %7 : index to i64
    %10 = arith.index_cast %1 : index to i64
    skript.check %6, "SK9205", "an index of `y` runs from {0} to {1}, the tensor's extent is {2}; guard it with `| |`"(%8, %9, %10)
    %c1_5 = arith.constant 1 : index
    %11 = skript.sub %1, %c1_5 : index
    %c0_6 = arith.constant 0 : index
    %12 = skript.le %11, %c0_6 : index
    %c1_7 = arith.constant 1 : index
    %13 = skript.sub %1, %c1_7 : index
    %c1_8 = arith.constant 1 : index
    %14 = skript.sub %13, %c1_8 : index
    %15 = skript.lt %14, %1 : index
    %16 = skript.or %12, %15 : i1
    %c0_9 = arith.constant 0 : index
    %c1_10 = arith.constant 1 : index
    %17 = skript.sub %1, %c1_10 : index
    %c1_11 = arith.constant 1 : index
    %18 = skript.sub %17, %c1_11 : index
    %19 = arith.index_cast %c0_9 : index to i64
    %20 = arith.index_cast %18 : index to i64
    %21 = arith.index_cast %1 : index to i64
    skript.check %16, "SK9205", "an index of `y` runs from {0} to {1}, the tensor's extent is {2}; guard it with `| |`"(%19, %20, %21)
    %c0_12 = arith.constant 0 : index
    %22 = arith.maxsi %1, %c0_12 : index
    %c16_13 = arith.constant 16 : index
    %23 = arith.minsi %22, %c16_13 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0_14 = arith.constant 0 : index
    %24 = arith.maxsi %1, %c0_14 : index
    %c16_15 = arith.constant 16 : index
    %25 = arith.minsi %24, %c16_15 : index
    %splat = tensor.splat %cst[%25] : tensor<?x4xf32>
    %26 = skript.formula assign (%i, %j) in (%23, 4) outs(%acc = %splat : tensor<?x4xf32>) do {
      %41 = skript.access %arg0[%i, %j] : tensor<?x4xf32>
      skript.yield %41 at [%i, %j] : f32
    } : tensor<?x4xf32>
    %c1_16 = arith.constant 1 : index
    %27 = skript.sub %1, %c1_16 : index
    %c0_17 = arith.constant 0 : index
    %28 = arith.maxsi %27, %c0_17 : index
    %c15 = arith.constant 15 : index
    %29 = arith.minsi %28, %c15 : index
    %c0_18 = arith.constant 0 : index
    %30 = arith.maxsi %1, %c0_18 : index
    %c16_19 = arith.constant 16 : index
    %31 = arith.minsi %30, %c16_19 : index
    %c0_20 = arith.constant 0 : index
    %32 = arith.maxsi %1, %c0_20 : index
    %c16_21 = arith.constant 16 : index
    %33 = arith.minsi %32, %c16_21 : index
    %c0_22 = arith.constant 0 : index
    %34 = arith.maxsi %1, %c0_22 : index
    %c16_23 = arith.constant 16 : index
    %35 = arith.minsi %34, %c16_23 : index
    %c0_24 = arith.constant 0 : index
    %36 = arith.maxsi %1, %c0_24 : index
    %c16_25 = arith.constant 16 : index
    %37 = arith.minsi %36, %c16_25 : index
    %c0_26 = arith.constant 0 : index
    %38 = arith.maxsi %1, %c0_26 : index
    %c16_27 = arith.constant 16 : index
    %39 = arith.minsi %38, %c16_27 : index
    %40 = skript.formula replace (%i, %j) in (%29, 4) outs(%acc = %26 : tensor<?x4xf32>) where {
      %c1_28 = arith.constant 1 : index
      %41 = skript.add %i, %c1_28 : index
      %42 = skript.lt %41, %31 : index
      skript.condition %42
    } do {
      %cst_28 = arith.constant 5.000000e-01 : f32
      %c0_29 = arith.constant 0 : index
      %41 = skript.gt %33, %c0_29 : index
      %42 = scf.if %41 -> (f32) {
        %c1_32 = arith.constant 1 : index
        %48 = skript.sub %35, %c1_32 : index
        %49 = skript.min %i, %48 : index
        %50 = skript.access %acc[%49, %j] : tensor<?x4xf32>
        scf.yield %50 : f32
      } else {
        %cst_32 = arith.constant 0.000000e+00 : f32
        scf.yield %cst_32 : f32
      }
      %43 = skript.mul %cst_28, %42 : f32
      %c0_30 = arith.constant 0 : index
      %44 = skript.gt %37, %c0_30 : index
      %45 = scf.if %44 -> (f32) {
        %c1_32 = arith.constant 1 : index
        %48 = skript.add %i, %c1_32 : index
        %c1_33 = arith.constant 1 : index
        %49 = skript.sub %39, %c1_33 : index
        %50 = skript.min %48, %49 : index
        %51 = skript.access %arg0[%50, %j] : tensor<?x4xf32>
        scf.yield %51 : f32
      } else {
        %cst_32 = arith.constant 0.000000e+00 : f32
        scf.yield %cst_32 : f32
      }
      %46 = skript.add %43, %45 : f32
      %c1_31 = arith.constant 1 : index
      %47 = skript.add %i, %c1_31 : index
      skript.yield %46 at [%47, %j] : f32
    } : tensor<?x4xf32>
    return %40 : tensor<?x4xf32>
  }
  func.func @Net(%arg0: tensor<?x4xf32> {bufferization.writable = false, skript.bounds = array<i64: 16, 4>, skript.name = "x", skript.role = "input"}, %arg1: tensor<5x4xf32> {bufferization.writable = false, skript.name = "net.Net.filter", skript.role = "variable"}, %arg2: tensor<5xf32> {bufferization.writable = false, skript.name = "net.Net.bias", skript.role = "variable"}) -> (tensor<?x5xf32> {skript.bounds = array<i64: 16, 5>, skript.name = "y", skript.role = "output"}, tensor<1x5xf32> {skript.name = "total", skript.role = "output"}) attributes {skript.entry} {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %c0_0 = arith.constant 0 : index
    %0 = arith.maxsi %dim, %c0_0 : index
    %c16 = arith.constant 16 : index
    %1 = arith.minsi %0, %c16 : index
    %c0_1 = arith.constant 0 : index
    %dim_2 = tensor.dim %arg0, %c0_1 : tensor<?x4xf32>
    %2 = skript.eq %dim_2, %1 : index
    %3 = arith.index_cast %dim_2 : index to i64
    %4 = arith.index_cast %1 : index to i64
    skript.check %2, "SK9204", "dimension 0 of x has the extent {0}, but {1} is expected"(%3, %4)
    %5 = skript.invoke @decayed_0(%arg0) operator "net.decayed" {rate = 5.000000e-01 : f64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %6 = skript.invoke @blurred_1(%5) operator "net.blurred" : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %7 = skript.invoke @linear_2(%6, %arg1, %arg2) operator "nn.linear" : (tensor<?x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<?x5xf32>
    %8 = skript.invoke @relu_3(%7) operator "nn.relu" {alpha, max} : (tensor<?x5xf32>) -> tensor<?x5xf32>
    %9 = skript.invoke @sum_reduce_4(%8) operator "math.sum_reduce" {axes = [0], squeeze = false} : (tensor<?x5xf32>) -> tensor<1x5xf32>
    return %8, %9 : tensor<?x5xf32>, tensor<1x5xf32>
  }
}
