// RUN: skript-opt %s --convert-skript-formula-to-linalg --canonicalize | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: skript-opt %s --convert-skript-formula-to-linalg=finite-factors=true --canonicalize | FileCheck %s --check-prefixes=CHECK,FINITE

// A largest element needs no guard in a border of the least one.
// CHECK-LABEL: func.func @largest
// CHECK:         %[[LEAST:.+]] = arith.constant 0xFF800000 : f32
// CHECK:         linalg.fill ins(%[[LEAST]] : f32) outs(%{{.*}} : tensor<10xf32>)
// CHECK:         linalg.generic
// CHECK-NOT:       skript.select
// CHECK:         return
func.func @largest(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = skript.formula max (%i, %j) in (8, 3) outs(%acc = %init : tensor<8xf32>) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%r] : tensor<8xf32>
    skript.yield %a at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// A product with a border of zeros is zero if factors are finite; a product of integers always is. Of the tensor, only
// what the window reaches is copied.
// CHECK-LABEL: func.func @products
// CHECK:         tensor.extract_slice %{{.*}}[0] [3] [1] : tensor<8xf32> to tensor<3xf32>
// CHECK:         linalg.generic
// EXACT:           skript.select
// FINITE-NOT:      skript.select
// CHECK:           linalg.yield
// CHECK:         linalg.generic
// CHECK-NOT:       skript.select
// CHECK:         return
func.func @products(%x: tensor<8xf32>, %w: tensor<3xf32>, %init: tensor<2xf32>,
                    %a: tensor<8xi64>, %b: tensor<3xi64>, %integers: tensor<8xi64>) -> (tensor<2xf32>, tensor<8xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = skript.formula sum (%i, %j) in (2, 3) outs(%acc = %init : tensor<2xf32>) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %ok = skript.ge %r, %c0 : index
    skript.condition %ok
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %s = skript.access %x[%r] : tensor<8xf32>
    %t = skript.access %w[%j] : tensor<3xf32>
    %v = skript.mul %s, %t : f32
    skript.yield %v at [%i] : f32
  } : tensor<2xf32>
  %z = skript.formula sum (%i, %j) in (8, 3) outs(%acc = %integers : tensor<8xi64>) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %s = skript.access %a[%r] : tensor<8xi64>
    %t = skript.access %b[%j] : tensor<3xi64>
    %v = skript.mul %s, %t : i64
    skript.yield %v at [%i] : i64
  } : tensor<8xi64>
  return %y, %z : tensor<2xf32>, tensor<8xi64>
}

// Where many points use each factor, whether all are finite is tested before: their sum times zero is zero.
// CHECK-LABEL: func.func @tested
// EXACT:         %[[SUM:.+]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%arg1 : tensor<3xf32>) outs(%{{.*}} : tensor<f32>)
// EXACT:           skript.mul %{{.+}}, %[[ZERO:.+]] : f32
// EXACT:         %[[TOTAL:.+]] = tensor.extract %[[SUM]][]
// EXACT:         %[[VALUE:.+]] = skript.eq %[[TOTAL]], %[[ZERO]]
// CHECK:         linalg.generic
// EXACT:           %[[REDUNDANT:.+]] = skript.or %{{.+}}, %[[VALUE]]
// EXACT:           skript.select %[[REDUNDANT]]
// FINITE-NOT:      skript.select
// CHECK:         return
func.func @tested(%x: tensor<32xf32>, %w: tensor<3xf32>, %init: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %y = skript.formula sum (%i, %j) in (32, 3) outs(%acc = %init : tensor<32xf32>) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c32 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%r] : tensor<32xf32>
    %b = skript.access %w[%j] : tensor<3xf32>
    %p = skript.mul %a, %b : f32
    skript.yield %p at [%i] : f32
  } : tensor<32xf32>
  return %y : tensor<32xf32>
}
