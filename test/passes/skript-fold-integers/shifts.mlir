// RUN: skript-opt %s --skript-fold-integers --canonicalize | FileCheck %s

#x = affine_map<(i, k) -> (i)>
#k = affine_map<(i, k) -> (k)>

// x / 2 ** k with 0 <= k < 32: neither the exponent is negative nor the divisor 0 or -1, and the quotient is a shift.
// CHECK-LABEL: func.func @floor
// CHECK:         ^bb0(%[[X:[^:]*]]: i64,
// CHECK-NEXT:    %[[K:.*]] = linalg.index 1
// CHECK-NEXT:    %[[E:.*]] = arith.index_cast %[[K]] : index to i64
// CHECK-NEXT:    %[[Q:.*]] = arith.shrsi %[[X]], %[[E]] : i64
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %{{.*}}, %[[Q]]
// CHECK-NEXT:    linalg.yield %[[SUM]]
func.func @floor(%x: tensor<8xi64>, %n: tensor<32xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %cm1 = arith.constant -1 : i64
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi64>, tensor<32xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %unused: f32, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %negative = arith.cmpi slt, %e, %c0 : i64
    %safe = arith.select %negative, %c0, %e : i64
    %p = math.ipowi %c2, %safe : i64
    %power = arith.select %negative, %c0, %p : i64
    %is_zero = arith.cmpi eq, %power, %c0 : i64
    %is_minus = arith.cmpi eq, %power, %cm1 : i64
    %either = arith.ori %is_zero, %is_minus : i1
    %divisor = arith.select %either, %c1, %power : i64
    %q = arith.floordivsi %in, %divisor : i64
    %opposite = arith.subi %c0, %in : i64
    %r = arith.select %is_minus, %opposite, %q : i64
    %s = arith.select %is_zero, %c0, %r : i64
    %sum = arith.addi %out, %s : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// Powers of 16, on indices: the exponent is multiplied by 4.
// CHECK-LABEL: func.func @sixteen
// CHECK:         %[[K:.*]] = linalg.index 1
// CHECK:         %[[E:.*]] = arith.muli %[[K]], %{{.*}} : index
// CHECK:         arith.shrsi %{{.*}}, %[[E]] : index
func.func @sixteen(%x: tensor<8xindex>, %n: tensor<15xf32>, %y: tensor<8xindex>) -> tensor<8xindex> {
  %c16 = arith.constant 16 : index
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xindex>, tensor<15xf32>) outs(%y : tensor<8xindex>) {
  ^bb0(%in: index, %unused: f32, %out: index):
    %k = linalg.index 1 : index
    %p = math.ipowi %c16, %k : index
    %q = arith.floordivsi %in, %p : index
    %sum = arith.addi %out, %q : index
    linalg.yield %sum : index
  } -> tensor<8xindex>
  return %z : tensor<8xindex>
}

// The quotient that rounds toward zero adds the largest remainder to a negative dividend.
// CHECK-LABEL: func.func @truncated
// CHECK:         ^bb0(%[[X:[^:]*]]: i64,
// CHECK:         %[[P:.*]] = arith.shli %{{.*}}, %[[E:.*]] : i64
// CHECK:         %[[N:.*]] = arith.cmpi slt, %[[X]], %{{.*}} : i64
// CHECK:         %[[MOST:.*]] = arith.subi %[[P]], %{{.*}} : i64
// CHECK:         %[[BIAS:.*]] = arith.select %[[N]], %[[MOST]], %{{.*}} : i64
// CHECK:         %[[SUM:.*]] = arith.addi %[[X]], %[[BIAS]] : i64
// CHECK:         arith.shrsi %[[SUM]], %[[E]] : i64
// CHECK-NOT:     arith.divsi
// CHECK-NOT:     arith.remsi
func.func @truncated(%x: tensor<8xi64>, %n: tensor<32xf32>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c2 = arith.constant 2 : i64
  %z = linalg.generic {indexing_maps = [#x, #k, #x], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8xi64>, tensor<32xf32>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %unused: f32, %out: i64):
    %k = linalg.index 1 : index
    %e = arith.index_cast %k : index to i64
    %p = math.ipowi %c2, %e : i64
    %q = arith.divsi %in, %p : i64
    %r = arith.remsi %in, %p : i64
    %qr = arith.addi %q, %r : i64
    %sum = arith.addi %out, %qr : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}

// Powers in loops: the exponent 13 - k is not negative for k < 14, so the power is a shift.
// CHECK-LABEL: func.func @loops
// CHECK:         scf.for %[[K:.*]] = %c0 to %c14
// CHECK-NEXT:      scf.for
// CHECK-NOT:       math.ipowi
// CHECK:           %[[E:.*]] = arith.subi %c13, %[[K]]
// CHECK-NOT:       arith.cmpi
// CHECK:           arith.shli %c1_i64
// CHECK:           memref.store
func.func @loops(%y: memref<8xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c13 = arith.constant 13 : index
  %c14 = arith.constant 14 : index
  %zero = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  scf.for %k = %c0 to %c14 step %c1 {
    scf.for %i = %c0 to %c8 step %c1 {
      %n = arith.subi %c13, %k : index
      %e = arith.index_cast %n : index to i64
      %negative = arith.cmpi slt, %e, %zero : i64
      %safe = arith.select %negative, %zero, %e : i64
      %p = math.ipowi %two, %safe : i64
      %power = arith.select %negative, %zero, %p : i64
      memref.store %power, %y[%i] : memref<8xi64>
    }
  }
  return
}

// The remainder of a floor division by 8 has the lowest three bits.
// CHECK-LABEL: func.func @remainder
// CHECK:         arith.andi %{{.*}}, %c7_i64
// CHECK-NOT:     arith.remsi
// CHECK:         return
func.func @remainder(%x: tensor<8xi64>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi64>) outs(%y : tensor<8xi64>) {
  ^bb0(%in: i64, %out: i64):
    %r = arith.remsi %in, %c8 : i64
    %nonzero = arith.cmpi ne, %r, %c0 : i64
    %negative = arith.cmpi slt, %r, %c0 : i64
    %both = arith.andi %nonzero, %negative : i1
    %up = arith.addi %r, %c8 : i64
    %0 = arith.select %both, %up, %r : i64
    linalg.yield %0 : i64
  } -> tensor<8xi64>
  return %z : tensor<8xi64>
}
