// RUN: skript-opt %s --skript-drop-fast-math | FileCheck %s

// Products are no longer contracted, and sums keep their order.
// CHECK-LABEL: func.func @dot
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    arith.addf %{{.*}}, %[[PRODUCT]] : f32
func.func @dot(%a: tensor<8xf32>, %b: tensor<8xf32>, %sum: tensor<f32>) -> tensor<f32> {
  %result = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%sum : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %product = arith.mulf %x, %y fastmath<contract> : f32
    %next = arith.addf %s, %product fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  return %result : tensor<f32>
}
