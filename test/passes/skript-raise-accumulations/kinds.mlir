// RUN: skript-opt %s --skript-raise-accumulations | FileCheck %s

// CHECK-LABEL: func.func @maximum
// CHECK:         skript.formula max (%[[I:.*]], %[[J:.*]]) in (8, 4)
// The read of the current element is erased: an accumulation must not read it.
// CHECK-NEXT:      %[[A:.*]] = skript.access %{{.*}}[%[[I]], %[[J]]] : tensor<8x4xf32>
// CHECK-NEXT:      skript.yield %[[A]] at [%[[I]]]
func.func @maximum(%x: tensor<8x4xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %y = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xf32>) do {
    %b = skript.access %acc[%i] : tensor<8xf32>
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %m = skript.max %b, %a : f32
    skript.yield %m at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// The current element is the second operand, at a constant subscript.
// CHECK-LABEL: func.func @sum
// CHECK:         skript.formula sum (%[[J:.*]]) in (4)
// CHECK:           %[[A:.*]] = skript.access %arg0
// CHECK-NOT:       skript.access
// CHECK:           skript.yield %[[A]]
func.func @sum(%x: tensor<4xi64>, %init: tensor<1xi64>) -> tensor<1xi64> {
  %y = skript.formula replace (%j) in (4) outs(%acc = %init : tensor<1xi64>) do {
    %c0 = arith.constant 0 : index
    %a = skript.access %x[%j] : tensor<4xi64>
    %b = skript.access %acc[%c0] : tensor<1xi64>
    %m = skript.add %a, %b : i64
    %first = arith.constant 0 : index
    skript.yield %m at [%first] : i64
  } : tensor<1xi64>
  return %y : tensor<1xi64>
}

// `y || x`, `y && x`, and `true` where a condition holds.
// CHECK-LABEL: func.func @flags
// CHECK:         skript.formula any
// CHECK-NOT:       scf.if
// CHECK:           %[[A:.*]] = skript.access %arg0
// CHECK:           skript.yield %[[A]]
// CHECK:         skript.formula all
// CHECK-NOT:       scf.if
// CHECK:           %[[B:.*]] = skript.access %arg0
// CHECK:           skript.yield %[[B]]
// CHECK:         skript.formula any {{.*}} where
func.func @flags(%x: tensor<8x4xi1>, %init: tensor<8xi1>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %y = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xi1>) do {
    %true = arith.constant true
    %b = skript.access %acc[%i] : tensor<8xi1>
    %m = scf.if %b -> i1 {
      scf.yield %true : i1
    } else {
      %a = skript.access %x[%i, %j] : tensor<8x4xi1>
      scf.yield %a : i1
    }
    skript.yield %m at [%i] : i1
  } : tensor<8xi1>
  %z = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xi1>) do {
    %false = arith.constant false
    %b = skript.access %acc[%i] : tensor<8xi1>
    %m = scf.if %b -> i1 {
      %a = skript.access %x[%i, %j] : tensor<8x4xi1>
      scf.yield %a : i1
    } else {
      scf.yield %false : i1
    }
    skript.yield %m at [%i] : i1
  } : tensor<8xi1>
  %w = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xi1>) where {
    %a = skript.access %x[%i, %j] : tensor<8x4xi1>
    skript.condition %a
  } do {
    %true = arith.constant true
    skript.yield %true at [%i] : i1
  } : tensor<8xi1>
  return %y, %z, %w : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}
