// RUN: skript-opt %s --skript-compute-integers --canonicalize --cse | FileCheck %s

// Sums of up to 2³¹ − 1 products of zeros and ones fit 32 bits.
// CHECK-LABEL: func.func @longest(
// CHECK:         arith.muli {{.+}} : i32
func.func @longest(%arg0: tensor<1x2147483647xi64> {skript.role = "input"}, %arg1: tensor<1x2147483647xi64> {skript.role = "variable"}) -> tensor<1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %x_e = tensor.empty() : tensor<1x2147483647xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<1x2147483647xi64>) outs(%x_e : tensor<1x2147483647xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 1 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<1x2147483647xf32>
  %w_e = tensor.empty() : tensor<1x2147483647xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<1x2147483647xi64>) outs(%w_e : tensor<1x2147483647xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 1 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<1x2147483647xf32>
  %empty = tensor.empty() : tensor<1x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x2147483647xf32>, tensor<1x2147483647xf32>) outs(%init : tensor<1x1xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// One more may not.
// CHECK-LABEL: func.func @too_long(
// CHECK-NOT:     arith.muli
// CHECK:         arith.addf
// CHECK:         return
func.func @too_long(%arg0: tensor<1x2147483648xi64> {skript.role = "input"}, %arg1: tensor<1x2147483648xi64> {skript.role = "variable"}) -> tensor<1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %x_e = tensor.empty() : tensor<1x2147483648xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<1x2147483648xi64>) outs(%x_e : tensor<1x2147483648xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 1 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<1x2147483648xf32>
  %w_e = tensor.empty() : tensor<1x2147483648xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<1x2147483648xi64>) outs(%w_e : tensor<1x2147483648xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 1 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<1x2147483648xf32>
  %empty = tensor.empty() : tensor<1x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x2147483648xf32>, tensor<1x2147483648xf32>) outs(%init : tensor<1x1xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// Constant scales are one factor.
// CHECK-LABEL: func.func @scales(
// CHECK-DAG:     %[[BOTH:.+]] = arith.constant 1.250000e-01 : f32
// CHECK:         arith.muli
// CHECK:         %[[REAL:.+]] = arith.sitofp
// CHECK-NEXT:    arith.mulf %[[REAL]], %[[BOTH]]
// CHECK-NEXT:    linalg.yield
func.func @scales(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %other = arith.constant 0.25 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %other : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Unless their product overflows: a sum of 0 times infinity would be NaN.
// CHECK-LABEL: func.func @large_scales(
// CHECK:         arith.muli
// CHECK:         %[[REAL:.+]] = arith.sitofp
// CHECK-NEXT:    %[[ONE:.+]] = arith.mulf %[[REAL]], %{{.+}} : f32
// CHECK-NEXT:    arith.mulf %[[ONE]], %{{.+}} : f32
// CHECK-NEXT:    linalg.yield
func.func @large_scales(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 1.0e+20 : f32
  %other = arith.constant 1.0e+20 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %other : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Or is subnormal, and inexact.
// CHECK-LABEL: func.func @small_scales(
// CHECK:         arith.muli
// CHECK:         %[[REAL:.+]] = arith.sitofp
// CHECK-NEXT:    %[[ONE:.+]] = arith.mulf %[[REAL]], %{{.+}} : f32
// CHECK-NEXT:    arith.mulf %[[ONE]], %{{.+}} : f32
// CHECK-NEXT:    linalg.yield
func.func @small_scales(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 1.0e-25 : f32
  %other = arith.constant 1.0e-20 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %other : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Initial values are added to the scaled sums.
// CHECK-LABEL: func.func @initial(
// CHECK:         linalg.generic {{.*}} outs({{.+}} : tensor<5x4xi32>)
// CHECK:           arith.muli
// CHECK:         linalg.generic {{.*}} ins({{.+}}, %arg2 : tensor<5x4xi32>, tensor<5x4xf32>)
// CHECK:           arith.sitofp
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.addf
func.func @initial(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}, %arg2: tensor<5x4xf32> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %other = arith.constant 0.25 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %other : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%arg2 : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// The sum with 100 wraps around in i8.
// CHECK-LABEL: func.func @wrapping(
// CHECK-NOT:     arith.muli
// CHECK:         arith.addi {{.+}} : i8
// CHECK:         return
func.func @wrapping(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi8> {skript.role = "variable"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    linalg.yield %real : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi8>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i8, %o: f32):
    %amount = arith.constant 100 : i8
    %sum = arith.addi %a, %amount : i8
    %real = arith.sitofp %sum : i8 to f32
    linalg.yield %real : f32
  } -> tensor<4x7xf32>
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Quantized factors are finite, so that the guard is redundant.
// CHECK-LABEL: func.func @finite(
// CHECK:         arith.muli
// CHECK-NOT:     arith.select
// CHECK:         return
func.func @finite(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %none = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<f32>) -> tensor<f32>
  %zeros = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%w : tensor<4x7xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %zero : f32
    %d = arith.addf %b, %c : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  %sum = tensor.extract %zeros[] : tensor<f32>
  %test = arith.cmpf oeq, %sum, %zero : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %k = linalg.index 2 : index
    %c3 = arith.constant 3 : index
    %in_place = arith.cmpi slt, %k, %c3 : index
    %ok = arith.ori %in_place, %test : i1
    %term = arith.select %ok, %product, %zero : f32
    %next = arith.addf %o, %term : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Other tests of a factor are kept.
// CHECK-LABEL: func.func @tested(
// CHECK:         %[[PRODUCT:.+]] = arith.muli
// CHECK:         arith.select %{{.+}}, %[[PRODUCT]]
func.func @tested(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %none = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<f32>) -> tensor<f32>
  %zeros = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%w : tensor<4x7xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %scale : f32
    %d = arith.addf %b, %c : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  %sum = tensor.extract %zeros[] : tensor<f32>
  %test = arith.cmpf oeq, %sum, %zero : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %k = linalg.index 2 : index
    %c3 = arith.constant 3 : index
    %in_place = arith.cmpi slt, %k, %c3 : index
    %ok = arith.ori %in_place, %test : i1
    %term = arith.select %ok, %product, %zero : f32
    %next = arith.addf %o, %term : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @unequal(
// CHECK:         %[[PRODUCT:.+]] = arith.muli
// CHECK:         arith.select %{{.+}}, %[[PRODUCT]]
func.func @unequal(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %none = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<f32>) -> tensor<f32>
  %zeros = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%w : tensor<4x7xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %zero : f32
    %d = arith.addf %b, %c : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  %sum = tensor.extract %zeros[] : tensor<f32>
  %test = arith.cmpf une, %sum, %zero : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %k = linalg.index 2 : index
    %c3 = arith.constant 3 : index
    %in_place = arith.cmpi slt, %k, %c3 : index
    %ok = arith.ori %in_place, %test : i1
    %term = arith.select %ok, %product, %zero : f32
    %next = arith.addf %o, %term : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// The finite tensor is not a factor.
// CHECK-LABEL: func.func @other_tensor(
// CHECK:         %[[PRODUCT:.+]] = arith.muli
// CHECK:         arith.select %{{.+}}, %[[PRODUCT]]
func.func @other_tensor(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "input"}, %arg2: tensor<4x7xf32> {skript.role = "input"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %x_e = tensor.empty() : tensor<5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<5x7xi64>) outs(%x_e : tensor<5x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<5x7xf32>
  %w_e = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1 : tensor<4x7xi64>) outs(%w_e : tensor<4x7xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant -128 : i64
    %high = arith.constant 127 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<4x7xf32>
  %none = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<f32>) -> tensor<f32>
  %zeros = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%arg2 : tensor<4x7xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %zero : f32
    %d = arith.addf %b, %c : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  %sum = tensor.extract %zeros[] : tensor<f32>
  %test = arith.cmpf oeq, %sum, %zero : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<5x7xf32>, tensor<4x7xf32>) outs(%init : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %product = arith.mulf %p, %q : f32
    %k = linalg.index 2 : index
    %c3 = arith.constant 3 : index
    %in_place = arith.cmpi slt, %k, %c3 : index
    %ok = arith.ori %in_place, %test : i1
    %term = arith.select %ok, %product, %zero : f32
    %next = arith.addf %o, %term : f32
    linalg.yield %next : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
