// RUN: skript-opt %s --skript-compute-integers --canonicalize --cse | FileCheck %s

// Windows of which each has an element of the tensor select the largest byte.
// CHECK-LABEL: func.func @rows(
// CHECK:         arith.maxsi {{.+}} : i32
func.func @rows(%arg0: tensor<3x5xi64> {skript.role = "input"}) -> tensor<3xf32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_e = tensor.empty() : tensor<3x5xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<3x5xi64>) outs(%x_e : tensor<3x5xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<3x5xf32>
  %empty = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x5xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @bordered(
// CHECK:         arith.maxsi {{.+}} : i32
func.func @bordered(%arg0: tensor<9xi64> {skript.role = "input"}) -> tensor<9xf32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
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
  %wide = tensor.empty() : tensor<11xf32>
  %outside = linalg.fill ins(%lowest : f32) outs(%wide : tensor<11xf32>) -> tensor<11xf32>
  %padded = tensor.insert_slice %x into %outside[1] [9] [1] : tensor<9xf32> into tensor<11xf32>
  %empty = tensor.empty() : tensor<9xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<9xf32>) -> tensor<9xf32>
  %window = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %window : tensor<11xf32>, tensor<3xf32>) outs(%init : tensor<9xf32>) {
  ^bb0(%a: f32, %unused: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<9xf32>
  return %y : tensor<9xf32>
}

// The maximum of no elements is negative infinity, which bytes cannot represent.
// CHECK-LABEL: func.func @no_columns(
// CHECK-NOT:     arith.maxsi {{.+}} : i32
// CHECK:         arith.maximumf
// CHECK:         return
func.func @no_columns(%arg0: tensor<3x0xi64> {skript.role = "input"}) -> tensor<3xf32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_e = tensor.empty() : tensor<3x0xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<3x0xi64>) outs(%x_e : tensor<3x0xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<3x0xf32>
  %empty = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x0xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// A dynamic extent may be 0.
// CHECK-LABEL: func.func @dynamic_columns(
// CHECK-NOT:     arith.maxsi {{.+}} : i32
// CHECK:         arith.maximumf
// CHECK:         return
func.func @dynamic_columns(%arg0: tensor<3x?xi64> {skript.role = "input"}) -> tensor<3xf32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_n = arith.constant 1 : index
  %x_d = tensor.dim %arg0, %x_n : tensor<3x?xi64>
  %x_e = tensor.empty(%x_d) : tensor<3x?xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<3x?xi64>) outs(%x_e : tensor<3x?xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<3x?xf32>
  %empty = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x?xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// As in a global maximum.
// CHECK-LABEL: func.func @dynamic_image(
// CHECK-NOT:     arith.maxsi {{.+}} : i32
// CHECK:         arith.maximumf
// CHECK:         return
func.func @dynamic_image(%arg0: tensor<3x?xi64> {skript.role = "input"}) -> tensor<f32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_n = arith.constant 1 : index
  %x_d = tensor.dim %arg0, %x_n : tensor<3x?xi64>
  %x_e = tensor.empty(%x_d) : tensor<3x?xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<3x?xi64>) outs(%x_e : tensor<3x?xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<3x?xf32>
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<3x?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// Windows of two elements from 8 downwards: neither [8, 9] nor [2, 3] has one of the four elements at 4.
// CHECK-LABEL: func.func @backwards(
// CHECK-NOT:     arith.maxsi {{.+}} : i32
// CHECK:         arith.maximumf
// CHECK:         return
func.func @backwards(%arg0: tensor<4xi64> {skript.role = "input"}) -> tensor<4xf32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_e = tensor.empty() : tensor<4xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%arg0 : tensor<4xi64>) outs(%x_e : tensor<4xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %wide = tensor.empty() : tensor<11xf32>
  %outside = linalg.fill ins(%lowest : f32) outs(%wide : tensor<11xf32>) -> tensor<11xf32>
  %padded = tensor.insert_slice %x into %outside[4] [4] [1] : tensor<4xf32> into tensor<11xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %window = tensor.empty() : tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1 - d0 * 2 + 8)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %window : tensor<11xf32>, tensor<2xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %unused: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The diagonal passes the element at [0, 1].
// CHECK-LABEL: func.func @diagonal(
// CHECK-NOT:     arith.maxsi {{.+}} : i32
// CHECK:         arith.maximumf
// CHECK:         return
func.func @diagonal(%arg0: tensor<1x1xi64> {skript.role = "input"}) -> tensor<f32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_e = tensor.empty() : tensor<1x1xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<1x1xi64>) outs(%x_e : tensor<1x1xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<1x1xf32>
  %wide = tensor.empty() : tensor<2x2xf32>
  %outside = linalg.fill ins(%lowest : f32) outs(%wide : tensor<2x2xf32>) -> tensor<2x2xf32>
  %padded = tensor.insert_slice %x into %outside[0, 1] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<2x2xf32>
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%padded : tensor<2x2xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// The last two rows are a border.
// CHECK-LABEL: func.func @rows_of_border(
// CHECK-NOT:     arith.maxsi {{.+}} : i32
// CHECK:         arith.maximumf
// CHECK:         return
func.func @rows_of_border(%arg0: tensor<3x4xi64> {skript.role = "input"}) -> tensor<5xf32> {
  %scale = arith.constant 2.0e-02 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_e = tensor.empty() : tensor<3x4xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%arg0 : tensor<3x4xi64>) outs(%x_e : tensor<3x4xf32>) {
  ^bb0(%a: i64, %o: f32):
    %low = arith.constant 0 : i64
    %high = arith.constant 255 : i64
    %raised = arith.maxsi %a, %low : i64
    %level = arith.minsi %raised, %high : i64
    %real = arith.sitofp %level : i64 to f32
    %y = arith.mulf %real, %scale : f32
    linalg.yield %y : f32
  } -> tensor<3x4xf32>
  %wide = tensor.empty() : tensor<5x4xf32>
  %outside = linalg.fill ins(%lowest : f32) outs(%wide : tensor<5x4xf32>) -> tensor<5x4xf32>
  %padded = tensor.insert_slice %x into %outside[0, 0] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<5x4xf32>
  %empty = tensor.empty() : tensor<5xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<5xf32>) -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%padded : tensor<5x4xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %most = arith.maximumf %b, %a : f32
    linalg.yield %most : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}
