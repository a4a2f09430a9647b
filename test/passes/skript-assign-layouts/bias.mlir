// RUN: skript-opt %s --skript-assign-layouts="vector-bits=256 vector-registers=16 cache-bytes=524288" --cse --canonicalize | FileCheck %s

// Sums that start with a bias have their channels last, too: the bias, which depends on variables alone, is broadcast in this order.
// CHECK-DAG:   #[[BIAS:.+]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @biased
// CHECK-SAME:    %{{[^ ]+}}: tensor<1x32x28x28xf32> {{.*}}, %{{[^ ]+}}: tensor<64x32xf32> {{.*}}, %[[VALUES:[^ ]+]]: tensor<64xf32>
// CHECK:         %[[START:.+]] = linalg.generic {indexing_maps = [#[[BIAS]], {{.*}} ins(%[[VALUES]] : {{.*}} outs({{.*}} : tensor<1x28x28x64xf32>)
// CHECK:         %[[A:.+]] = linalg.generic {{.*}} outs(%[[START]] : tensor<1x28x28x64xf32>)
// CHECK:         tensor.insert_slice %[[A]] into {{.*}} : tensor<1x28x28x64xf32>
// CHECK:         %[[C:.+]] = linalg.generic {{.*}} outs(%[[START]] : tensor<1x28x28x64xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[C]], {{.*}} : tensor<1x28x28x64xf32>, tensor<64x64xf32>) outs({{.*}} : tensor<1x64x28x28xf32>)
#x = affine_map<(n, k, i, j, c) -> (n, c, i, j)>
#w = affine_map<(n, k, i, j, c) -> (k, c)>
#sum = affine_map<(n, k, i, j, c) -> (n, k, i, j)>
#all = affine_map<(n, k, i, j) -> (n, k, i, j)>
#window = affine_map<(n, k, i, j, r, s) -> (n, k, i + r, j + s)>
#depth = affine_map<(n, k, i, j, r, s) -> (k, r, s)>
#sums = affine_map<(n, k, i, j, r, s) -> (n, k, i, j)>
#channel = affine_map<(n, k, i, j) -> (k)>
func.func @biased(
    %x: tensor<1x32x28x28xf32> {skript.role = "input"}, %first: tensor<64x32xf32> {skript.role = "variable"},
    %bias: tensor<64xf32> {skript.role = "variable"}, %filter: tensor<64x3x3xf32> {skript.role = "variable"}, %last: tensor<64x64xf32> {skript.role = "variable"})
    -> tensor<1x64x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x28x28xf32>
  %start = linalg.generic {indexing_maps = [#channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : tensor<64xf32>) outs(%empty : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<1x64x28x28xf32>
  %a = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %first : tensor<1x32x28x28xf32>, tensor<64x32xf32>) outs(%start : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x64x28x28xf32>
  %larger = tensor.empty() : tensor<1x64x30x30xf32>
  %border = linalg.fill ins(%zero : f32) outs(%larger : tensor<1x64x30x30xf32>) -> tensor<1x64x30x30xf32>
  %padded = tensor.insert_slice %a into %border[0, 0, 1, 1] [1, 64, 28, 28] [1, 1, 1, 1]
      : tensor<1x64x28x28xf32> into tensor<1x64x30x30xf32>
  %c = linalg.generic {indexing_maps = [#window, #depth, #sums],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %filter : tensor<1x64x30x30xf32>, tensor<64x3x3xf32>) outs(%start : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x64x28x28xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %b = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%c, %last : tensor<1x64x28x28xf32>, tensor<64x64xf32>) outs(%filled : tensor<1x64x28x28xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %product = arith.mulf %p, %q : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x64x28x28xf32>
  return %b : tensor<1x64x28x28xf32>
}
