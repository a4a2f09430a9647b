// RUN: skript-opt %s --skript-assign-layouts="vector-bits=512 vector-registers=32 byte-products=vpdpbusd" | FileCheck %s

// Groups of bytes that are summed at once are contiguous: what no contraction writes is stored with the summed channels last as well.
#window = affine_map<(n, o, y, x, c, i, j) -> (n, c, y + i, x + j)>
#weights = affine_map<(n, o, y, x, c, i, j) -> (o, c, i, j)>
#sum = affine_map<(n, o, y, x, c, i, j) -> (n, o, y, x)>
#all = affine_map<(n, c, y, x) -> (n, c, y, x)>
// CHECK-LABEL: func.func @window
// CHECK-SAME:    %[[X:.+]]: tensor<1x64x18x18xf32>
// CHECK:         %[[BYTES:.+]] = linalg.generic {{.*}} ins(%[[X]] : tensor<1x64x18x18xf32>) outs({{.+}} : tensor<1x18x18x64xi8>)
// CHECK:         linalg.generic {{.*}} ins(%[[BYTES]], %{{.+}} : tensor<1x18x18x64xi8>, tensor<64x64x3x3xi8>)
func.func @window(%x: tensor<1x64x18x18xf32> {skript.role = "input"}, %w: tensor<64x64x3x3xi8> {skript.role = "variable"}) -> tensor<1x64x16x16xi32> {
  %zero = arith.constant 0 : i32
  %bytes = tensor.empty() : tensor<1x64x18x18xi8>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x64x18x18xf32>) outs(%bytes : tensor<1x64x18x18xi8>) {
  ^bb0(%e: f32, %o: i8):
    %n = arith.fptosi %e : f32 to i8
    linalg.yield %n : i8
  } -> tensor<1x64x18x18xi8>
  %empty = tensor.empty() : tensor<1x64x16x16xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x64x16x16xi32>) -> tensor<1x64x16x16xi32>
  %y = linalg.generic {indexing_maps = [#window, #weights, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%q, %w : tensor<1x64x18x18xi8>, tensor<64x64x3x3xi8>) outs(%start : tensor<1x64x16x16xi32>) {
  ^bb0(%e: i8, %f: i8, %s: i32):
    %a = arith.extui %e : i8 to i32
    %b = arith.extsi %f : i8 to i32
    %p = arith.muli %a, %b : i32
    %n = arith.addi %s, %p : i32
    linalg.yield %n : i32
  } -> tensor<1x64x16x16xi32>
  return %y : tensor<1x64x16x16xi32>
}
