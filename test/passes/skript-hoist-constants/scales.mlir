// RUN: skript-opt %s --skript-hoist-constants | FileCheck %s

// The product of two scales is computed once for each channel.
#all = affine_map<(i, j) -> (i, j)>
#channel = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @scales
// CHECK-SAME:    %[[X:.+]]: tensor<5x7xf32> {{.*}}, %[[A:.+]]: tensor<7xf32> {{.*}}, %[[B:.+]]: tensor<7xf32>
// CHECK:         %[[SCALE:.+]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[A]], %[[B]] : tensor<7xf32>, tensor<7xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[SCALE]] : tensor<5x7xf32>, tensor<7xf32>)
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT:     arith.mulf
func.func @scales(
    %x: tensor<5x7xf32> {skript.role = "input"}, %a: tensor<7xf32> {skript.role = "variable"},
    %b: tensor<7xf32> {skript.role = "variable"}) -> tensor<5x7xf32> {
  %empty = tensor.empty() : tensor<5x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b : tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>) outs(%empty : tensor<5x7xf32>) {
  ^bb0(%e: f32, %s: f32, %t: f32, %o: f32):
    %scale = arith.mulf %s, %t : f32
    %scaled = arith.mulf %e, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}
