// RUN: skript-opt %s --skript-compute-integers --canonicalize --cse | FileCheck %s

// Bytes are inserted into those of a tensor with the same scale.
// CHECK-LABEL: func.func @same_scale(
// CHECK:         tensor.insert_slice {{.+}} : tensor<9xi8> into tensor<11xi8>
// CHECK:         arith.maxsi {{.+}} : i32
func.func @same_scale(%arg0: tensor<9xi64> {skript.role = "input"}, %arg1: tensor<11xi64> {skript.role = "input"}) -> tensor<f32> {
  %scale = arith.constant 0.5 : f32
  %other = arith.constant 0.25 : f32
  %x_e = tensor.empty() : tensor<9xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<9xi64>) outs(%x_e : tensor<9xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<9xf32>
  %w_e = tensor.empty() : tensor<11xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg1 : tensor<11xi64>) outs(%w_e : tensor<11xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<11xf32>
  %y = tensor.insert_slice %x into %w[1] [9] [1] : tensor<9xf32> into tensor<11xf32>
  %most = arith.constant 100.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %none = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%lowest : f32) outs(%none : tensor<f32>) -> tensor<f32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%y : tensor<11xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %z : tensor<f32>
}

// Bytes with another scale represent other values.
// CHECK-LABEL: func.func @other_scale(
// CHECK:         tensor.insert_slice {{.+}} : tensor<9xf32> into tensor<11xf32>
// CHECK:         arith.maximumf
func.func @other_scale(%arg0: tensor<9xi64> {skript.role = "input"}, %arg1: tensor<11xi64> {skript.role = "input"}) -> tensor<f32> {
  %scale = arith.constant 0.5 : f32
  %other = arith.constant 0.25 : f32
  %x_e = tensor.empty() : tensor<9xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<9xi64>) outs(%x_e : tensor<9xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<9xf32>
  %w_e = tensor.empty() : tensor<11xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg1 : tensor<11xi64>) outs(%w_e : tensor<11xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %other : f32
    linalg.yield %y : f32
  } -> tensor<11xf32>
  %y = tensor.insert_slice %x into %w[1] [9] [1] : tensor<9xf32> into tensor<11xf32>
  %most = arith.constant 100.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %none = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%lowest : f32) outs(%none : tensor<f32>) -> tensor<f32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%y : tensor<11xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %z : tensor<f32>
}

// A border is filled with the byte of the zero point, which is 7 more: bytes begin with -7.
// CHECK-LABEL: func.func @base_and_zero_point(
// CHECK:         %[[ZERO:.+]] = tensor.extract %{{.+}}[] : tensor<i32>
// CHECK:         %[[TRUNCATED:.+]] = arith.trunci %[[ZERO]] : i32 to i8
// CHECK:         %[[BYTE:.+]] = arith.addi %[[TRUNCATED]], %c7_i8 : i8
// CHECK:         linalg.fill ins(%[[BYTE]] : i8) outs({{.+}} : tensor<11xi8>)
// CHECK:         arith.muli {{.+}} : i32
func.func @base_and_zero_point(%arg0: tensor<9xi64> {skript.role = "input"}, %arg1: tensor<i64> {skript.role = "input"}, %arg2: tensor<4x3xi64> {skript.role = "variable"}) -> tensor<4x9xi64> {
  %none = arith.constant 0 : i64
  %least = arith.constant -7 : i64
  %most = arith.constant 248 : i64
  %z_most = arith.constant 100 : i64
  %lowest = arith.constant -128 : i64
  %largest = arith.constant 127 : i64
  %e0 = tensor.empty() : tensor<9xi64>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0, %arg1 : tensor<9xi64>, tensor<i64>) outs(%e0 : tensor<9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %raised = arith.maxsi %a, %least : i64
    %limited = arith.minsi %raised, %most : i64
    %z0 = arith.maxsi %b, %none : i64
    %z1 = arith.minsi %z0, %z_most : i64
    %difference = arith.subi %limited, %z1 : i64
    linalg.yield %difference : i64
  } -> tensor<9xi64>
  %e1 = tensor.empty() : tensor<11xi64>
  %outside = linalg.fill ins(%none : i64) outs(%e1 : tensor<11xi64>) -> tensor<11xi64>
  %padded = tensor.insert_slice %x into %outside[1] [9] [1] : tensor<9xi64> into tensor<11xi64>
  %e2 = tensor.empty() : tensor<4x3xi64>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg2 : tensor<4x3xi64>) outs(%e2 : tensor<4x3xi64>) {
  ^bb0(%a: i64, %o: i64):
    %raised = arith.maxsi %a, %lowest : i64
    %limited = arith.minsi %raised, %largest : i64
    linalg.yield %limited : i64
  } -> tensor<4x3xi64>
  %e3 = tensor.empty() : tensor<4x9xi64>
  %start = linalg.fill ins(%none : i64) outs(%e3 : tensor<4x9xi64>) -> tensor<4x9xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(c, p, q) -> (p + q)>, affine_map<(c, p, q) -> (c, q)>, affine_map<(c, p, q) -> (c, p)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %w : tensor<11xi64>, tensor<4x3xi64>) outs(%start : tensor<4x9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %product = arith.muli %a, %b : i64
    %sum = arith.addi %o, %product : i64
    linalg.yield %sum : i64
  } -> tensor<4x9xi64>
  return %y : tensor<4x9xi64>
}

// Zero cannot be represented if the zero point is 255.
// CHECK-LABEL: func.func @zero_point_beyond_bytes(
// CHECK-NOT:     tensor.insert_slice {{.+}} : tensor<9xi8>
// CHECK:         arith.muli {{.+}} : i64
// CHECK:         return
func.func @zero_point_beyond_bytes(%arg0: tensor<9xi64> {skript.role = "input"}, %arg1: tensor<i64> {skript.role = "input"}, %arg2: tensor<4x3xi64> {skript.role = "variable"}) -> tensor<4x9xi64> {
  %none = arith.constant 0 : i64
  %least = arith.constant -7 : i64
  %most = arith.constant 248 : i64
  %z_most = arith.constant 255 : i64
  %lowest = arith.constant -128 : i64
  %largest = arith.constant 127 : i64
  %e0 = tensor.empty() : tensor<9xi64>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0, %arg1 : tensor<9xi64>, tensor<i64>) outs(%e0 : tensor<9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %raised = arith.maxsi %a, %least : i64
    %limited = arith.minsi %raised, %most : i64
    %z0 = arith.maxsi %b, %none : i64
    %z1 = arith.minsi %z0, %z_most : i64
    %difference = arith.subi %limited, %z1 : i64
    linalg.yield %difference : i64
  } -> tensor<9xi64>
  %e1 = tensor.empty() : tensor<11xi64>
  %outside = linalg.fill ins(%none : i64) outs(%e1 : tensor<11xi64>) -> tensor<11xi64>
  %padded = tensor.insert_slice %x into %outside[1] [9] [1] : tensor<9xi64> into tensor<11xi64>
  %e2 = tensor.empty() : tensor<4x3xi64>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg2 : tensor<4x3xi64>) outs(%e2 : tensor<4x3xi64>) {
  ^bb0(%a: i64, %o: i64):
    %raised = arith.maxsi %a, %lowest : i64
    %limited = arith.minsi %raised, %largest : i64
    linalg.yield %limited : i64
  } -> tensor<4x3xi64>
  %e3 = tensor.empty() : tensor<4x9xi64>
  %start = linalg.fill ins(%none : i64) outs(%e3 : tensor<4x9xi64>) -> tensor<4x9xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(c, p, q) -> (p + q)>, affine_map<(c, p, q) -> (c, q)>, affine_map<(c, p, q) -> (c, p)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %w : tensor<11xi64>, tensor<4x3xi64>) outs(%start : tensor<4x9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %product = arith.muli %a, %b : i64
    %sum = arith.addi %o, %product : i64
    linalg.yield %sum : i64
  } -> tensor<4x9xi64>
  return %y : tensor<4x9xi64>
}

// CHECK-LABEL: func.func @zero_point_of_32_bits(
// CHECK:         tensor.insert_slice {{.+}} : tensor<9xi8>
// CHECK:         arith.muli {{.+}} : i32
func.func @zero_point_of_32_bits(%arg0: tensor<9xi64> {skript.role = "input"}, %arg1: tensor<i32> {skript.role = "input"}, %arg2: tensor<4x3xi64> {skript.role = "variable"}) -> tensor<4x9xi64> {
  %none = arith.constant 0 : i64
  %least = arith.constant -7 : i64
  %most = arith.constant 248 : i64
  %z_most = arith.constant 100 : i64
  %lowest = arith.constant -128 : i64
  %largest = arith.constant 127 : i64
  %e0 = tensor.empty() : tensor<9xi64>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0, %arg1 : tensor<9xi64>, tensor<i32>) outs(%e0 : tensor<9xi64>) {
  ^bb0(%a: i64, %b: i32, %o: i64):
    %raised = arith.maxsi %a, %least : i64
    %limited = arith.minsi %raised, %most : i64
    %wide = arith.extsi %b : i32 to i64
    %z0 = arith.maxsi %wide, %none : i64
    %z1 = arith.minsi %z0, %z_most : i64
    %difference = arith.subi %limited, %z1 : i64
    linalg.yield %difference : i64
  } -> tensor<9xi64>
  %e1 = tensor.empty() : tensor<11xi64>
  %outside = linalg.fill ins(%none : i64) outs(%e1 : tensor<11xi64>) -> tensor<11xi64>
  %padded = tensor.insert_slice %x into %outside[1] [9] [1] : tensor<9xi64> into tensor<11xi64>
  %e2 = tensor.empty() : tensor<4x3xi64>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg2 : tensor<4x3xi64>) outs(%e2 : tensor<4x3xi64>) {
  ^bb0(%a: i64, %o: i64):
    %raised = arith.maxsi %a, %lowest : i64
    %limited = arith.minsi %raised, %largest : i64
    linalg.yield %limited : i64
  } -> tensor<4x3xi64>
  %e3 = tensor.empty() : tensor<4x9xi64>
  %start = linalg.fill ins(%none : i64) outs(%e3 : tensor<4x9xi64>) -> tensor<4x9xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(c, p, q) -> (p + q)>, affine_map<(c, p, q) -> (c, q)>, affine_map<(c, p, q) -> (c, p)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %w : tensor<11xi64>, tensor<4x3xi64>) outs(%start : tensor<4x9xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %product = arith.muli %a, %b : i64
    %sum = arith.addi %o, %product : i64
    linalg.yield %sum : i64
  } -> tensor<4x9xi64>
  return %y : tensor<4x9xi64>
}

// 32-bit zero points are stored as they are.
// CHECK-LABEL: func.func @all_of_32_bits(
// CHECK:         linalg.generic {{.*}} outs({{.+}} : tensor<7xi8>)
// CHECK:         arith.extui {{.+}} : i8 to i32
// CHECK:         arith.subi
func.func @all_of_32_bits(%arg0: tensor<7xi32> {skript.role = "input"}, %arg1: tensor<i32> {skript.role = "input"}) -> tensor<7xi32> {
  %none = arith.constant 0 : i32
  %most = arith.constant 255 : i32
  %e = tensor.empty() : tensor<7xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0, %arg1 : tensor<7xi32>, tensor<i32>) outs(%e : tensor<7xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %raised = arith.maxsi %a, %none : i32
    %limited = arith.minsi %raised, %most : i32
    %z0 = arith.maxsi %b, %none : i32
    %z1 = arith.minsi %z0, %most : i32
    %difference = arith.subi %limited, %z1 : i32
    linalg.yield %difference : i32
  } -> tensor<7xi32>
  return %y : tensor<7xi32>
}

// A zero point for each channel is not supported.
// CHECK-LABEL: func.func @zero_points_of_channels(
// CHECK-NOT:     arith.muli
// CHECK:         arith.addf
// CHECK:         return
func.func @zero_points_of_channels(%arg0: tensor<5x7xi64> {skript.role = "input"}, %arg1: tensor<4x7xi64> {skript.role = "variable"}, %arg2: tensor<4xi64> {skript.role = "variable"}) -> tensor<5x4xf32> {
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
  %lowest = arith.constant -128 : i64
  %largest = arith.constant 127 : i64
  %e0 = tensor.empty() : tensor<4x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg2 : tensor<4x7xi64>, tensor<4xi64>) outs(%e0 : tensor<4x7xf32>) {
  ^bb0(%a: i64, %b: i64, %o: f32):
    %raised = arith.maxsi %a, %lowest : i64
    %limited = arith.minsi %raised, %largest : i64
    %z0 = arith.maxsi %b, %lowest : i64
    %z1 = arith.minsi %z0, %largest : i64
    %difference = arith.subi %limited, %z1 : i64
    %real = arith.sitofp %difference : i64 to f32
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
