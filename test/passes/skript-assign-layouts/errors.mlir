// What keeps its order: products of matrices, contractions without constant weights, tensors of an entry without variables. A senseless
// option is refused.
// RUN: skript-opt %s --split-input-file --skript-assign-layouts | FileCheck %s
// RUN: not skript-opt %s --split-input-file --skript-assign-layouts="vector-bits=100" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: option vector-bits is 100, which is not a power of two from 64 to 4096

// CHECK-LABEL: func.func @matrices
// CHECK-NOT:     tensor<512x256xf32>
// CHECK:         return {{.*}} : tensor<256x512xf32>
func.func @matrices(%x: tensor<128x512xf32> {skript.role = "input"}, %w: tensor<256x128xf32> {skript.role = "variable"}) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x512xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x512xf32>) -> tensor<256x512xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x512xf32>, tensor<256x128xf32>) outs(%start : tensor<256x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}

// -----

// CHECK-LABEL: func.func @inputs
// CHECK-NOT:     tensor<1x7x7x64xf32>
// CHECK:         return
func.func @inputs(%x: tensor<1x32x7x7xf32> {skript.role = "input"}, %w: tensor<64x32xf32> {skript.role = "input"},
    %other: tensor<64xf32> {skript.role = "variable"}) -> tensor<1x64x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, k, i, j, c) -> (n, c, i, j)>, affine_map<(n, k, i, j, c) -> (k, c)>, affine_map<(n, k, i, j, c) -> (n, k, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x32x7x7xf32>, tensor<64x32xf32>) outs(%start : tensor<1x64x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %s, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x64x7x7xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(n, k, i, j) -> (n, k, i, j)>, affine_map<(n, k, i, j) -> (k)>, affine_map<(n, k, i, j) -> (n, k, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %other : tensor<1x64x7x7xf32>, tensor<64xf32>) outs(%empty : tensor<1x64x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x64x7x7xf32>
  return %z : tensor<1x64x7x7xf32>
}

// -----

// CHECK-LABEL: func.func @no_variables
// CHECK-NOT:     linalg.generic {{.*}} tensor<1x7x7x64xf32>
// CHECK:         return
func.func @no_variables(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32> {
  %empty = tensor.empty() : tensor<1x64x7x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, k, i, j) -> (n, k, i, j)>, affine_map<(n, k, i, j) -> (n, k, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x64x7x7xf32>) outs(%empty : tensor<1x64x7x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = arith.addf %a, %a : f32
    linalg.yield %sum : f32
  } -> tensor<1x64x7x7xf32>
  return %y : tensor<1x64x7x7xf32>
}
