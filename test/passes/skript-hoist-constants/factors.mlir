// RUN: skript-opt %s --skript-hoist-constants | FileCheck %s

// A constant factor of what is rounded becomes part of the scale and of the bias, which are computed once.
#all = affine_map<(i, j) -> (i, j)>
#channel = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @rounded
// CHECK-SAME:    %[[X:.+]]: tensor<5x7xf32> {{.*}}, %[[A:.+]]: tensor<7xf32> {{.*}}, %[[B:.+]]: tensor<7xf32>
// CHECK-DAG:     %[[SCALE:.+]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[A]] : tensor<7xf32>)
// CHECK-DAG:     %[[BIAS:.+]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[B]] : tensor<7xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], {{.*}} : tensor<5x7xf32>
// CHECK:           %[[PRODUCT:.+]] = arith.mulf %{{.+}}, %{{.+}} fastmath<contract> : f32
// CHECK-NEXT:      %[[SUM:.+]] = arith.addf %[[PRODUCT]], %{{.+}} fastmath<contract> : f32
// CHECK-NEXT:      math.roundeven %[[SUM]]
func.func @rounded(
    %x: tensor<5x7xf32> {skript.role = "input"}, %a: tensor<7xf32> {skript.role = "variable"},
    %b: tensor<7xf32> {skript.role = "variable"}) -> tensor<5x7xf32> {
  %factor = arith.constant 4.0 : f32
  %empty = tensor.empty() : tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b : tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>) outs(%empty : tensor<5x7xf32>) {
  ^bb0(%e: f32, %s: f32, %t: f32, %o: f32):
    %scaled = arith.mulf %e, %s : f32
    %sum = arith.addf %scaled, %t : f32
    %product = arith.mulf %sum, %factor : f32
    %rounded = math.roundeven %product : f32
    linalg.yield %rounded : f32
  } -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// Factors of values that are not rounded are kept, and those of sums with a term that has none.
// CHECK-LABEL: func.func @others
// CHECK:         %[[SUM:.+]] = arith.addf
// CHECK-NEXT:    arith.mulf %[[SUM]]
// CHECK:         %[[PLAIN:.+]] = arith.addf
// CHECK-NEXT:    arith.mulf %[[PLAIN]]
// CHECK-NEXT:    math.roundeven
func.func @others(
    %x: tensor<5x7xf32> {skript.role = "input"},
    %b: tensor<7xf32> {skript.role = "variable"}) -> (tensor<5x7xf32>, tensor<5x7xf32>) {
  %factor = arith.constant 4.0 : f32
  %empty = tensor.empty() : tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<5x7xf32>, tensor<7xf32>) outs(%empty : tensor<5x7xf32>) {
  ^bb0(%e: f32, %t: f32, %o: f32):
    %scaled = arith.mulf %e, %t : f32
    %sum = arith.addf %scaled, %t : f32
    %product = arith.mulf %sum, %factor : f32
    linalg.yield %product : f32
  } -> tensor<5x7xf32>
  %z = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<5x7xf32>, tensor<7xf32>) outs(%empty : tensor<5x7xf32>) {
  ^bb0(%e: f32, %t: f32, %o: f32):
    %sum = arith.addf %e, %t : f32
    %product = arith.mulf %sum, %factor : f32
    %rounded = math.roundeven %product : f32
    linalg.yield %rounded : f32
  } -> tensor<5x7xf32>
  return %y, %z : tensor<5x7xf32>, tensor<5x7xf32>
}
