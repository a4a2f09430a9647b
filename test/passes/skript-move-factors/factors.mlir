// Constant factors and divisors multiply or divide the result of a sum.
// RUN: skript-opt %s --split-input-file --skript-move-factors | FileCheck %s

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
// CHECK-DAG:   #[[ALL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @scores
// CHECK-SAME:    %[[Q:[^:]+]]: tensor<8x16xf32>, %[[K:[^:]+]]: tensor<16x24xf32>
// CHECK:         %[[SUM:.+]] = linalg.generic {{.*}} ins(%[[Q]], %[[K]] :
// CHECK-NEXT:    ^bb0(%[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[OUT:[^:]+]]: f32):
// CHECK-NEXT:      %[[PRODUCT:.+]] = arith.mulf %[[X]], %[[Y]] fastmath<contract>
// CHECK-NEXT:      arith.addf %[[OUT]], %[[PRODUCT]] fastmath<reassoc,contract>
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic {indexing_maps = [#[[ALL]], #[[ALL]]], {{.*}} ins(%[[SUM]] :
// CHECK-NEXT:    ^bb0(%[[TOTAL:[^:]+]]: f32,
// CHECK-NEXT:      %[[SCALED:.+]] = arith.mulf %[[TOTAL]], %cst
// CHECK-NEXT:      arith.divf %[[SCALED]], %cst
func.func @scores(%q: tensor<8x16xf32>, %k: tensor<16x24xf32>) -> tensor<8x24xf32> {
  %three = arith.constant 3.0 : f32
  %eight = arith.constant 8.0 : f32
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x24xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x24xf32>) -> tensor<8x24xf32>
  %z = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x16xf32>, tensor<16x24xf32>) outs(%start : tensor<8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %three fastmath<contract> : f32
    %1 = arith.mulf %0, %b fastmath<contract> : f32
    %2 = arith.divf %1, %eight : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc,contract> : f32
    linalg.yield %3 : f32
  } -> tensor<8x24xf32>
  return %z : tensor<8x24xf32>
}

// -----

// A divisor that varies along the sum remains, a mean divides once, and dynamic extents are those of the sum.
#x = affine_map<(i, k) -> (i, k)>
#y = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @mean
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           arith.divf
// CHECK-NOT:       arith.divf
// CHECK:         %[[SIZE:.+]] = tensor.dim
// CHECK:         tensor.empty(%[[SIZE]])
// CHECK:           arith.divf %{{.+}}, %cst
func.func @mean(%x: tensor<?x16xf32>, %w: tensor<?x16xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
  %n = arith.constant 16.0 : f32
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%start : tensor<?xf32>) -> tensor<?xf32>
  %z = linalg.generic {indexing_maps = [#x, #x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<?x16xf32>, tensor<?x16xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.divf %0, %n : f32
    %2 = arith.addf %acc, %1 fastmath<reassoc,contract> : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
