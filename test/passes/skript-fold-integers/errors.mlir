// RUN: skript-opt %s --skript-fold-integers | FileCheck %s

#x = affine_map<(i, k) -> (i)>
#k = affine_map<(i, k) -> (k)>

// No module is refused. These operations remain: 2 ** 63 is not a 64-bit integer, 3 is not a power of two, an element has any
// value, and 32-bit integers are not
// supported.
// CHECK-LABEL: func.func @others
// CHECK:         math.ipowi %{{.*}} : i64
// CHECK:         math.ipowi %{{.*}} : i64
// CHECK:         math.ipowi %{{.*}} : i64
// CHECK:         math.ipowi %{{.*}} : i32
// CHECK-COUNT-3: arith.floordivsi
// CHECK:         arith.cmpi slt
func.func @others(%x: tensor<8xi64>, %n: tensor<64xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c5 = arith.constant 5 : i64
  %two = arith.constant 2 : i32
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi64>, tensor<64xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %unused: f32, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %large = math.ipowi %c2, %e : i64
    %small = arith.minsi %e, %c5 : i64
    %odd = math.ipowi %c3, %small : i64
    %any = math.ipowi %c2, %in : i64
    %narrow = arith.trunci %e : i64 to i32
    %short = math.ipowi %two, %narrow : i32
    %wide = arith.extsi %short : i32 to i64
    %a = arith.floordivsi %in, %large : i64
    %b = arith.floordivsi %a, %odd : i64
    %c = arith.floordivsi %b, %any : i64
    %less = arith.cmpi slt, %c, %wide : i64
    %d = arith.select %less, %c, %out : i64
    linalg.yield %d : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// A divisor of 32 bits is another value than the 64-bit power.
// CHECK-LABEL: func.func @narrow
// CHECK:         arith.floordivsi %{{.*}} : i32
func.func @narrow(%x: tensor<8xi32>, %n: tensor<40xf32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %c2 = arith.constant 2 : i64
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi32>, tensor<40xf32>) outs(%y : tensor<8xi32>) {
  ^bb0(%in: i32, %unused: f32, %out: i32):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %p = math.ipowi %c2, %e : i64
    %i = arith.index_cast %p : i64 to index
    %short = arith.index_cast %i : index to i32
    %q = arith.floordivsi %in, %short : i32
    %sum = arith.addi %out, %q : i32
    linalg.yield %sum : i32
  } -> tensor<8xi32>
  return %z : tensor<8xi32>
}
