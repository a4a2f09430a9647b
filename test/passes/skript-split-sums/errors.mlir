// Sums that keep their order, terms that are not products of factors of different rows and columns, and terms with another use are not
// split. The pass has no options.
// RUN: skript-opt %s --skript-split-sums | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-split-sums{all=1})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option all

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @kept(%a: tensor<8x16xf32>, %b: tensor<16x24xf32>, %start: tensor<8x24xf32>) -> (tensor<8x24xf32>, tensor<8x24xf32>) {
  // In order.
  %y = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x16xf32>, tensor<16x24xf32>) outs(%start : tensor<8x24xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.mulf %q, %p : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x24xf32>
  // The second term varies along one loop of the result.
  %z = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x16xf32>, tensor<16x24xf32>) outs(%start : tensor<8x24xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.mulf %p, %p : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc> : f32
    linalg.yield %3 : f32
  } -> tensor<8x24xf32>
  return %y, %z : tensor<8x24xf32>, tensor<8x24xf32>
}
