// RUN: skript-opt %s --skript-assign-layouts="vector-bits=256 vector-registers=16 cache-bytes=524288" --cse --canonicalize | FileCheck %s

// A reshape reads row-major elements: where several contractions gain by channels that are last, a copy in the old order stands before it.
// CHECK:       #[[BACK:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @reshaped
// CHECK-COUNT-3: linalg.generic {{.*}} ins({{.*}} : tensor<1x480x7x7xf32>, tensor<512x480xf32>) outs({{.*}} : tensor<1x7x7x512xf32>)
// CHECK:         %[[Y:.+]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x7x7x512xf32>)
// CHECK:         %[[COPY:.+]] = linalg.generic {indexing_maps = [#[[BACK]], {{.*}} ins(%[[Y]] : {{.*}} outs({{.*}} : tensor<1x512x7x7xf32>)
// CHECK:         tensor.collapse_shape %[[COPY]] {{.*}} : tensor<1x512x7x7xf32> into tensor<1x25088xf32>
#x = affine_map<(n, k, i, j, c) -> (n, c, i, j)>
#w = affine_map<(n, k, i, j, c) -> (k, c)>
#sum = affine_map<(n, k, i, j, c) -> (n, k, i, j)>
#all = affine_map<(n, k, i, j) -> (n, k, i, j)>
func.func @reshaped(
    %x: tensor<1x480x7x7xf32> {skript.role = "input"}, %u: tensor<512x480xf32> {skript.role = "variable"},
    %v: tensor<512x480xf32> {skript.role = "variable"}, %w: tensor<512x480xf32> {skript.role = "variable"}) -> tensor<1x25088xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x512x7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %u : tensor<1x480x7x7xf32>, tensor<512x480xf32>) outs(%start : tensor<1x512x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x512x7x7xf32>
  %q = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<1x480x7x7xf32>, tensor<512x480xf32>) outs(%start : tensor<1x512x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x512x7x7xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #sum], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x480x7x7xf32>, tensor<512x480xf32>) outs(%start : tensor<1x512x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x512x7x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #all, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %q, %r : tensor<1x512x7x7xf32>, tensor<1x512x7x7xf32>, tensor<1x512x7x7xf32>) outs(%empty : tensor<1x512x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %two = arith.addf %a, %b : f32
    %three = arith.addf %two, %c : f32
    linalg.yield %three : f32
  } -> tensor<1x512x7x7xf32>
  %z = tensor.collapse_shape %y [[0], [1, 2, 3]] : tensor<1x512x7x7xf32> into tensor<1x25088xf32>
  return %z : tensor<1x25088xf32>
}
