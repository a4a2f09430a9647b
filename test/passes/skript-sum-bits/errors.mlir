// No module is refused. These sums remain: terms that are not bits, shifts that are not defined for all bits, an integer that varies along
// the bits, and 32-bit integers.
// RUN: skript-opt %s --skript-sum-bits | FileCheck %s

#x = affine_map<(i, k) -> (i)>
#k = affine_map<(i, k) -> (k)>
#xk = affine_map<(i, k) -> (i, k)>

// CHECK-LABEL: func.func @quotients
// CHECK:         "reduction"
func.func @quotients(%x: tensor<8xi64>, %n: tensor<32xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c3 = arith.constant 3 : i64
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi64>, tensor<32xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %unused: f32, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %q = arith.shrsi %in, %e : i64
    %two = arith.andi %q, %c3 : i64
    %sum = arith.addi %out, %two : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// CHECK-LABEL: func.func @far
// CHECK:         "reduction"
func.func @far(%x: tensor<8xi64>, %n: tensor<60xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c1 = arith.constant 1 : i64
  %c9 = arith.constant 9 : i64
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi64>, tensor<60xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %unused: f32, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %e9 = arith.addi %e, %c9 : i64
    %q = arith.shrsi %in, %e9 : i64
    %bit = arith.andi %q, %c1 : i64
    %sum = arith.addi %out, %bit : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// CHECK-LABEL: func.func @varies
// CHECK:         "reduction"
func.func @varies(%x: tensor<8x32xi64>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c1 = arith.constant 1 : i64
  %z = linalg.generic {indexing_maps = [#xk, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x32xi64>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %q = arith.shrsi %in, %e : i64
    %bit = arith.andi %q, %c1 : i64
    %sum = arith.addi %out, %bit : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// CHECK-LABEL: func.func @narrow
// CHECK:         "reduction"
func.func @narrow(%x: tensor<8xi32>, %n: tensor<16xf32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %c1 = arith.constant 1 : i32
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi32>, tensor<16xf32>) outs(%y : tensor<8xi32>) {
  ^bb0(%in: i32, %unused: f32, %out: i32):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i32
    %q = arith.shrsi %in, %e : i32
    %bit = arith.andi %q, %c1 : i32
    %sum = arith.addi %out, %bit : i32
    linalg.yield %sum : i32
  } -> tensor<8xi32>
  return %z : tensor<8xi32>
}
