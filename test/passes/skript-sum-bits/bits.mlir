// Sums over the bits of integers become operations on whole integers.
// RUN: skript-opt %s --split-input-file --skript-fold-integers --skript-sum-bits --canonicalize | FileCheck %s

#x = affine_map<(i, k) -> (i)>
#k = affine_map<(i, k) -> (k)>

// The number of the lowest 32 bits.
// CHECK-LABEL: func.func @count
// CHECK-NOT:     "reduction"
// CHECK:         ^bb0(%[[X:[^:]*]]: i64, %[[OUT:[^:]*]]: i64):
// CHECK-NEXT:    %[[BITS:.*]] = arith.andi %[[X]], %c4294967295_i64
// CHECK-NEXT:    %[[COUNT:.*]] = math.ctpop %[[BITS]] : i64
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[OUT]], %[[COUNT]]
// CHECK-NEXT:    linalg.yield %[[SUM]]
func.func @count(%x: tensor<8xi64>, %n: tensor<32xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c2 = arith.constant 2 : i64
  %c1 = arith.constant 1 : i64
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi64>, tensor<32xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %unused: f32, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %p = math.ipowi %c2, %e : i64
    %q = arith.floordivsi %in, %p : i64
    %bit = arith.andi %q, %c1 : i64
    %sum = arith.addi %out, %bit : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// -----

// x ^ x / 2, by bits: the choice of a power of two, and remainders of floor divisions by 2.
#x = affine_map<(i, k) -> (i)>
#k = affine_map<(i, k) -> (k)>
// CHECK-LABEL: func.func @gray
// CHECK-NOT:     "reduction"
// CHECK:         ^bb0(%[[X:[^:]*]]: i64, %[[OUT:[^:]*]]: i64):
// CHECK-DAG:     %[[HALF:.*]] = arith.shrsi %[[X]], %c1_i64
// CHECK-NOT:     arith.remsi
// CHECK-DAG:     arith.xori
// CHECK:         arith.andi %{{.*}}, %c4294967295_i64
// CHECK-NOT:     math.ctpop
func.func @gray(%x: tensor<8xi64>, %n: tensor<32xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi64>, tensor<32xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %unused: f32, %out: i64):
    %i = arith.index_cast %in : i64 to index
    %k = linalg.index 1 : index
    %p = math.ipowi %c2, %k : index
    %q = arith.floordivsi %i, %p : index
    %r = arith.remsi %q, %c2 : index
    %nonzero = arith.cmpi ne, %r, %c0 : index
    %negative = arith.cmpi slt, %r, %c0 : index
    %adjusted = arith.andi %nonzero, %negative : i1
    %up = arith.addi %r, %c2 : index
    %low = arith.select %adjusted, %up, %r : index
    %k1 = arith.addi %k, %c1 : index
    %p1 = math.ipowi %c2, %k1 : index
    %q1 = arith.floordivsi %i, %p1 : index
    %high = arith.andi %q1, %c1 : index
    %differs = arith.cmpi ne, %low, %high : index
    %value = arith.select %differs, %p, %c0 : index
    %wide = arith.index_cast %value : index to i64
    %sum = arith.addi %out, %wide : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// -----

// Bits of two integers, less than each other, and a condition that is the same for all bits; the weight is 2 ** (k + 3).
#x = affine_map<(i, k) -> (i)>
#k = affine_map<(i, k) -> (k)>
// CHECK-LABEL: func.func @less
// CHECK-SAME:    %[[A:[^:]*]]: tensor<8xi64>, %[[B:[^:]*]]: tensor<8xi64>, %[[C:[^:]*]]: tensor<8xi1>
// CHECK-NOT:     "reduction"
// CHECK:         ins(%[[A]], %[[B]], %[[C]] :
// CHECK:         arith.select %{{.*}}, %c-1_i64, %c0_i64
// CHECK:         %[[BITS:.*]] = arith.andi %{{.*}}, %c255_i64
// CHECK:         arith.shli %[[BITS]], %c3_i64
func.func @less(%a: tensor<8xi64>, %b: tensor<8xi64>, %c: tensor<8xi1>, %n: tensor<8xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %z = linalg.generic {indexing_maps = [#x, #x, #x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b, %c, %n : tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%p: i64, %q: i64, %holds: i1, %unused: f32, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %0 = arith.shrsi %p, %e : i64
    %1 = arith.andi %0, %c1 : i64
    %2 = arith.shrsi %q, %e : i64
    %3 = arith.andi %2, %c1 : i64
    %4 = arith.cmpi slt, %1, %3 : i64
    %5 = arith.andi %4, %holds : i1
    %6 = arith.extui %5 : i1 to i64
    %e3 = arith.addi %e, %c3 : i64
    %7 = arith.shli %6, %e3 : i64
    %sum = arith.addi %out, %7 : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}
