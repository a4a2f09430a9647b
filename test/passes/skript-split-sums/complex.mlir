// The real part of a product of complex matrices becomes two contractions; the negative one is subtracted from the start value.
// RUN: skript-opt %s --split-input-file --skript-split-sums | FileCheck %s

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @real_part
// CHECK-SAME:    %[[A:[^:]+]]: tensor<8x16xf32>, %[[B:[^:]+]]: tensor<8x16xf32>, %[[C:[^:]+]]: tensor<16x24xf32>, %[[D:[^:]+]]: tensor<16x24xf32>, %[[START:[^:]+]]: tensor<8x24xf32>
// CHECK:         %[[ZEROS:.+]] = linalg.fill
// CHECK:         %[[NEGATIVE:.+]] = linalg.generic {{.*}} ins(%[[B]], %[[D]] : {{.*}}) outs(%[[ZEROS]] :
// CHECK:           %[[PRODUCT:.+]] = arith.mulf
// CHECK:           arith.addf %{{.+}}, %[[PRODUCT]] fastmath<reassoc,contract>
// CHECK:         %[[REST:.+]] = linalg.generic {{.*}} ins(%[[NEGATIVE]], %[[START]] :
// CHECK:           arith.subf
// CHECK:         %[[ALL:.+]] = linalg.generic {{.*}} ins(%[[A]], %[[C]] : {{.*}}) outs(%[[REST]] :
// CHECK:           arith.mulf
// CHECK:           arith.addf %{{.+}}, %{{.+}} fastmath<reassoc,contract>
// CHECK:         return %[[ALL]]
func.func @real_part(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %c: tensor<16x24xf32>, %d: tensor<16x24xf32>, %start: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %z = linalg.generic {indexing_maps = [#left, #left, #right, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %c, %d : tensor<8x16xf32>, tensor<8x16xf32>, tensor<16x24xf32>, tensor<16x24xf32>) outs(%start : tensor<8x24xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32, %acc: f32):
    %0 = arith.mulf %p, %r fastmath<contract> : f32
    %1 = arith.mulf %q, %s fastmath<contract> : f32
    %2 = arith.subf %0, %1 fastmath<contract> : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc,contract> : f32
    linalg.yield %3 : f32
  } -> tensor<8x24xf32>
  return %z : tensor<8x24xf32>
}

// -----

// Three terms of integers, with a uniform start value.
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @three
// CHECK-COUNT-5: arith.muli
// CHECK-NOT:     arith.muli
// CHECK-NOT:     arith.subi
func.func @three(%a: tensor<8x16xi64>, %b: tensor<16x24xi64>) -> tensor<8x24xi64> {
  %zero = arith.constant dense<0> : tensor<8x24xi64>
  %z = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x16xi64>, tensor<16x24xi64>) outs(%zero : tensor<8x24xi64>) {
  ^bb0(%p: i64, %q: i64, %acc: i64):
    %square = arith.muli %p, %p : i64
    %0 = arith.muli %square, %q : i64
    %1 = arith.muli %p, %q : i64
    %n = arith.muli %q, %q : i64
    %2 = arith.muli %p, %n : i64
    %3 = arith.addi %0, %1 : i64
    %4 = arith.addi %3, %2 : i64
    %5 = arith.addi %acc, %4 : i64
    linalg.yield %5 : i64
  } -> tensor<8x24xi64>
  return %z : tensor<8x24xi64>
}
