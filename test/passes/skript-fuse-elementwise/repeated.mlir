// RUN: skript-opt %s --skript-fuse-elementwise | FileCheck %s

#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0) -> (d0)>

// What adds to its output stays apart from loops that visit its points several times: they would add each time.
// CHECK-LABEL: func.func @repeated
// CHECK:         linalg.generic
// CHECK:           skript.add
// CHECK:         linalg.generic
// CHECK:           skript.mul
func.func @repeated(%x: tensor<2xf32>, %y: tensor<2x3xf32>, %init: tensor<2xf32>) -> tensor<2x3xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.add %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %1 = linalg.generic {indexing_maps = [#row, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0, %y : tensor<2xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = skript.mul %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// If each point is visited once, they are fused.
// CHECK-LABEL: func.func @once
// CHECK:         linalg.generic
// CHECK:           skript.add
// CHECK-NEXT:      skript.neg
// CHECK-NOT:     linalg.generic
func.func @once(%x: tensor<2x3xf32>, %init: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.add %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %1 = linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = skript.neg %a : f32
    linalg.yield %v : f32
  } -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// The first row of a tensor that is read by one index: the loop would have the extent of all rows.
#rows = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#first = affine_map<(d0) -> (0, d0)>
// CHECK-LABEL: func.func @first_row
// CHECK:         linalg.generic
// CHECK:         linalg.generic
func.func @first_row(%x: tensor<544xf32>) -> tensor<32xf32> {
  %e = tensor.empty() : tensor<17x32xf32>
  %0 = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<544xf32>) outs(%e : tensor<17x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<17x32xf32>
  %f = tensor.empty() : tensor<32xf32>
  %1 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<17x32xf32>) outs(%f : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<32xf32>
  return %1 : tensor<32xf32>
}
