// No module is refused. These sums remain: sums that keep their order, that do not start at zero, of integers, and terms whose factors all
// vary, or which divide by what varies. So do factors that are not positive constants: data may be infinite or 0.
// RUN: skript-opt %s --skript-move-factors | FileCheck %s

#x = affine_map<(i, k) -> (i, k)>
#y = affine_map<(i, k) -> (i)>

// CHECK-LABEL: func.func @ordered
// CHECK-COUNT-1: linalg.generic
// CHECK-LABEL: func.func @started
// CHECK-COUNT-1: linalg.generic
// CHECK-LABEL: func.func @integers
// CHECK-COUNT-1: linalg.generic
// CHECK-LABEL: func.func @reciprocals
// CHECK-COUNT-1: linalg.generic
// CHECK-LABEL: func.func @data
// CHECK-COUNT-1: linalg.generic
// CHECK-LABEL: func.func @zero
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @ordered(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %n = arith.constant 16.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.divf %a, %n : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

func.func @started(%x: tensor<8x16xf32>, %start: tensor<8xf32>) -> tensor<8xf32> {
  %n = arith.constant 16.0 : f32
  %z = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.divf %a, %n : f32
    %1 = arith.addf %acc, %0 fastmath<reassoc,contract> : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

func.func @integers(%x: tensor<8x16xi64>) -> tensor<8xi64> {
  %n = arith.constant 16 : i64
  %zeros = arith.constant dense<0> : tensor<8xi64>
  %z = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xi64>) outs(%zeros : tensor<8xi64>) {
  ^bb0(%a: i64, %acc: i64):
    %0 = arith.muli %a, %n : i64
    %1 = arith.addi %acc, %0 : i64
    linalg.yield %1 : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

func.func @reciprocals(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.divf %one, %a : f32
    %1 = arith.addf %acc, %0 fastmath<reassoc,contract> : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

func.func @data(%x: tensor<8x16xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %none = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#x, #y, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.addf %acc, %0 fastmath<reassoc,contract> : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

func.func @zero(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %none = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.divf %a, %none : f32
    %1 = arith.addf %acc, %0 fastmath<reassoc,contract> : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}
