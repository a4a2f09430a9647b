// RUN: skript-opt %s --skript-hoist-projections | FileCheck %s

// The products of all steps with the weights are one; the loop begins its sums with slices of it.
// CHECK-LABEL: func.func @cell(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x2x16xf32>, %[[W:[a-z0-9]+]]: tensor<32x16xf32>
// CHECK:         %[[BIAS:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "parallel"]}
// CHECK-SAME:      outs(%{{.*}} : tensor<8x2x32xf32>)
// CHECK:         %[[ALL:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME:      ins(%[[X]], %[[W]] : tensor<8x2x16xf32>, tensor<32x16xf32>) outs(%[[BIAS]] : tensor<8x2x32xf32>)
// CHECK:         scf.for %[[T:[a-z0-9]+]] =
// CHECK:           %[[OWN:.*]] = tensor.extract_slice %[[ALL]][%[[T]], 0, 0] [1, 2, 32] [1, 1, 1]
// CHECK-NEXT:      linalg.generic {{.*}} outs(%[[OWN]] :
// CHECK-NOT:       linalg.generic
// CHECK:           scf.yield
#rows = affine_map<(b, n, c) -> (b, c)>
#columns = affine_map<(b, n, c) -> (n, c)>
#sums = affine_map<(b, n, c) -> (b, n)>
func.func @cell(%x: tensor<8x2x16xf32>, %w: tensor<32x16xf32>, %r: tensor<32x32xf32>, %bias: tensor<32xf32>,
                %start: tensor<2x32xf32>) -> tensor<2x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<2x32xf32>
  %end = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %start) -> tensor<2x32xf32> {
    %slice = tensor.extract_slice %x[%t, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<2x16xf32>
    %init = linalg.generic {
      indexing_maps = [affine_map<(b, n) -> (n)>, affine_map<(b, n) -> (b, n)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%bias : tensor<32xf32>) outs(%empty : tensor<2x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<2x32xf32>
    %projection = linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%slice, %w : tensor<2x16xf32>, tensor<32x16xf32>) outs(%init : tensor<2x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<2x32xf32>
    %next = linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%h, %r : tensor<2x32xf32>, tensor<32x32xf32>) outs(%projection : tensor<2x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %o, %product : f32
      linalg.yield %sum : f32
    } -> tensor<2x32xf32>
    scf.yield %next : tensor<2x32xf32>
  }
  return %end : tensor<2x32xf32>
}
