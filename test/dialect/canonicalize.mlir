// RUN: skript-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @constants
func.func @constants() -> (i64, i64, i64, i64, i64, f32, f32, i1, i64, tensor<3xi64>) {
  %m7 = arith.constant -7 : i64
  %c2 = arith.constant 2 : i64
  %c0 = arith.constant 0 : i64
  %half = arith.constant 2.5 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %big = arith.constant 1.0e30 : f32
  %t = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
  // CHECK-DAG: %[[DIV:.*]] = arith.constant -4 : i64
  %0 = skript.div %m7, %c2 : i64
  // CHECK-DAG: %[[CEIL:.*]] = arith.constant -3 : i64
  %1 = skript.ceildiv %m7, %c2 : i64
  // CHECK-DAG: %[[MOD:.*]] = arith.constant 1 : i64
  %2 = skript.mod %m7, %c2 : i64
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
  %3 = skript.div %m7, %c0 : i64
  // CHECK-DAG: %[[POW:.*]] = arith.constant 49 : i64
  %4 = skript.pow %m7, %c2 : i64
  // CHECK-DAG: %[[ROUND:.*]] = arith.constant 3.000000e+00 : f32
  %5 = skript.round %half : f32
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  %6 = skript.min %nan, %half : f32
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  %7 = skript.ne %nan, %nan : f32
  // CHECK-DAG: %[[MAX:.*]] = arith.constant 9223372036854775807 : i64
  %8 = skript.cast %big : f32 to i64
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<[3, 4, 5]> : tensor<3xi64>
  %9 = skript.add %t, %c2 : tensor<3xi64>, i64
  // CHECK: return %[[DIV]], %[[CEIL]], %[[MOD]], %[[ZERO]], %[[POW]], %[[ROUND]], %[[NAN]], %[[TRUE]], %[[MAX]], %[[T]]
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
    : i64, i64, i64, i64, i64, f32, f32, i1, i64, tensor<3xi64>
}

// Zero, NaN and infinity keep these from folding.
// CHECK-LABEL: func @inexact
func.func @inexact(%x: f32) -> (f32, f32, f32, i1) {
  %zero = arith.constant 0.0 : f32
  // CHECK: skript.add
  %0 = skript.add %x, %zero : f32
  // CHECK: skript.mul
  %1 = skript.mul %x, %zero : f32
  // CHECK: skript.sub
  %2 = skript.sub %x, %x : f32
  // CHECK: skript.eq
  %3 = skript.eq %x, %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, i1
}

// CHECK-LABEL: func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[P:.*]]: i1, %[[I:.*]]: i64)
func.func @identities(%x: tensor<?xf32>, %p: i1, %i: i64)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, i1, i1, i64, i64) {
  %one = arith.constant 1.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %true = arith.constant true
  %false = arith.constant false
  // CHECK-NOT: skript
  %0 = skript.mul %x, %one : tensor<?xf32>, f32
  %1 = skript.add %0, %minus_zero : tensor<?xf32>, f32
  %2 = skript.neg %1 : tensor<?xf32>
  %3 = skript.neg %2 : tensor<?xf32>
  %4 = skript.and %p, %true : i1
  %5 = skript.implies %false, %p : i1
  %6 = skript.sub %i, %i : i64
  %7 = skript.cast %i : i64 to index
  %8 = skript.cast %7 : index to i64
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[P]], %true, %c0_i64, %[[I]]
  return %0, %1, %3, %4, %5, %6, %8 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, i1, i1, i64, i64
}

// A scalar is not a tensor, and an extent that is known is not forgotten.
// CHECK-LABEL: func @types_differ
func.func @types_differ(%s: f32, %x: tensor<?xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  // CHECK: skript.mul
  %0 = skript.mul %s, %one : f32, tensor<4xf32>
  // CHECK: skript.mul
  %1 = skript.mul %x, %one : tensor<?xf32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Unused formulas are removed, equal formulas are merged.
// CHECK-LABEL: func @unused
func.func @unused(%x: tensor<4xf32>) {
  // CHECK-NEXT: return
  %0 = skript.formula assign (%i) in (4) outs(%a = %x : tensor<4xf32>) do {
    %e = skript.access %x[%i] : tensor<4xf32>
    skript.yield %e at [%i] : f32
  } : tensor<4xf32>
  %1 = skript.div %x, %x : tensor<4xf32>
  return
}

// A formula without steps is what its destinations were.
// CHECK-LABEL: func @no_steps
// CHECK-SAME:    (%[[INIT:.*]]: tensor<4xf32>,
// CHECK-NOT:     skript.formula
// CHECK:         return %[[INIT]], %[[INIT]], %[[INIT]] :
func.func @no_steps(%init: tensor<4xf32>, %x: tensor<4x0xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = skript.formula sum (%i, %j) in (4, 0) outs(%acc = %init : tensor<4xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<4x0xf32>
    skript.yield %a at [%i] : f32
  } : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %1 = skript.formula sum (%i, %j) in (4, %c0) outs(%acc = %init : tensor<4xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<4x0xf32>
    skript.yield %a at [%i] : f32
  } : tensor<4xf32>
  %2 = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) where {
    %never = arith.constant false
    skript.condition %never
  } do {
    %one = arith.constant 1.0 : f32
    skript.yield %one at [%i] : f32
  } : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Constant bounds become part of the formula.
// CHECK-LABEL: func @known_bounds
// CHECK-SAME:    %[[N:[^ :]*]]: index)
// CHECK:         skript.formula assign (%{{.*}}, %{{.*}}, %{{.*}}) in (4, %[[N]], 3) outs
func.func @known_bounds(%init: tensor<4x?x3xf32>, %n: index) -> tensor<4x?x3xf32> {
  %c3 = arith.constant 3 : index
  %0 = skript.formula assign (%i, %j, %k) in (4, %n, %c3) outs(%acc = %init : tensor<4x?x3xf32>) do {
    %one = arith.constant 1.0 : f32
    skript.yield %one at [%i, %j, %k] : f32
  } : tensor<4x?x3xf32>
  return %0 : tensor<4x?x3xf32>
}

// A predicate that always holds is none; one that may fail stays.
// CHECK-LABEL: func.func @always
// CHECK:         skript.formula assign (%{{.*}}) in (4) outs(%{{.*}}) do
// CHECK:         skript.formula assign (%{{.*}}) in (4) outs(%{{.*}}) where
func.func @always(%init: tensor<4xf32>, %p: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %0 = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) where {
    %zero = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %yes = skript.lt %zero, %c1 : index
    skript.condition %yes
  } do {
    skript.yield %one at [%i] : f32
  } : tensor<4xf32>
  %1 = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) where {
    skript.condition %p
  } do {
    skript.yield %one at [%i] : f32
  } : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Unused results are not computed, unless a step reads them.
// CHECK-LABEL: func.func @unused_results
// CHECK-SAME:    %[[A:[^:]+]]: tensor<4xf32>, %[[B:[^:]+]]: tensor<4x4xf32>
// CHECK:         %[[R:.+]] = skript.formula sum (%[[I:.+]], %[[J:.+]]) in (4, 4) outs(%{{.+}} = %[[B]] : tensor<4x4xf32>) do
// CHECK-NEXT:      skript.access %[[B]][%[[J]], %[[I]]]
// CHECK-NEXT:      skript.yield %{{.+}} at [%[[I]], %[[J]]] : f32
// CHECK:         %[[S:.+]]:2 = skript.formula replace
// CHECK:         return %[[R]], %[[S]]#1
func.func @unused_results(%a: tensor<4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %0:2 = skript.formula sum (%i, %j) in (4, 4) outs(%one = %a : tensor<4xf32>, %other = %b : tensor<4x4xf32>) do {
    %e = skript.access %b[%j, %i] : tensor<4x4xf32>
    %f = skript.neg %e : f32
    skript.yield %f at [%j], %e at [%i, %j] : f32, f32
  } : tensor<4xf32>, tensor<4x4xf32>
  %1:2 = skript.formula replace (%i) in (4) outs(%one = %a : tensor<4xf32>, %other = %a : tensor<4xf32>) do {
    %c0 = arith.constant 0 : index
    %e = skript.access %one[%c0] : tensor<4xf32>
    skript.yield %e at [%i], %e at [%i] : f32, f32
  } : tensor<4xf32>, tensor<4xf32>
  return %0#1, %1#1 : tensor<4x4xf32>, tensor<4xf32>
}

// Constant elements are folded; reads at unknown or out-of-bounds indices are not.
// CHECK-LABEL: func.func @known_elements
// CHECK-SAME:    %[[S:[^:]+]]: f32
// CHECK-DAG:     %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG:     %[[SIX:.+]] = arith.constant 6 : i64
// CHECK:         skript.yield %[[ONE]] at
// CHECK:         skript.yield %[[SIX]] at
// CHECK:         skript.yield %[[S]] at
// CHECK:         %[[E:.+]] = skript.access %{{.+}}[%{{.+}}, %{{.+}}] : tensor<2x3xi64>
// CHECK-NEXT:    skript.yield %[[E]] at
// CHECK:         skript.access
func.func @known_elements(%s: f32, %f: tensor<4xf32>, %n: tensor<2xi64>)
    -> (tensor<4xf32>, tensor<2xi64>, tensor<4xf32>, tensor<2xi64>, tensor<2xi64>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %ones = arith.constant dense<1.0> : tensor<9xf32>
  %table = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %filled = tensor.splat %s : tensor<9xf32>
  %0 = skript.formula assign (%i) in (4) outs(%acc = %f : tensor<4xf32>) do {
    %e = skript.access %ones[%i] : tensor<9xf32>
    skript.yield %e at [%i] : f32
  } : tensor<4xf32>
  %1 = skript.formula assign (%i) in (2) outs(%acc = %n : tensor<2xi64>) do {
    %e = skript.access %table[%c1, %c2] : tensor<2x3xi64>
    skript.yield %e at [%i] : i64
  } : tensor<2xi64>
  %2 = skript.formula assign (%i) in (4) outs(%acc = %f : tensor<4xf32>) do {
    %e = skript.access %filled[%i] : tensor<9xf32>
    skript.yield %e at [%i] : f32
  } : tensor<4xf32>
  %3 = skript.formula assign (%i) in (2) outs(%acc = %n : tensor<2xi64>) do {
    %e = skript.access %table[%i, %c2] : tensor<2x3xi64>
    skript.yield %e at [%i] : i64
  } : tensor<2xi64>
  %4 = skript.formula assign (%i) in (2) outs(%acc = %n : tensor<2xi64>) do {
    %e = skript.access %table[%i, %c9] : tensor<2x3xi64>
    skript.yield %e at [%i] : i64
  } : tensor<2xi64>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<2xi64>, tensor<4xf32>, tensor<2xi64>, tensor<2xi64>
}

// A destination that a cast made more general is what it was; the regions' arguments follow, and the result is cast.
// CHECK-LABEL: func @cast_destination
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>,
func.func @cast_destination(%x: tensor<4xf32>, %v: f32) -> tensor<?xf32> {
  %c = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  // CHECK: %[[R:.*]] = skript.formula sum (%{{.*}}) in (4) outs(%{{.*}} = %[[X]] : tensor<4xf32>) do {
  // CHECK: } : tensor<4xf32>
  %r = skript.formula sum (%i) in (4) outs(%acc = %c : tensor<?xf32>) do {
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  // CHECK: %[[C:.*]] = tensor.cast %[[R]] : tensor<4xf32> to tensor<?xf32>
  // CHECK: return %[[C]]
  return %r : tensor<?xf32>
}

// Both regions read it; the other destination does not change, and a pair of inverse casts is removed.
// CHECK-LABEL: func @cast_destination_read
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<?xf32>)
func.func @cast_destination_read(%x: tensor<4xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  // CHECK: %[[R:.*]]:2 = skript.formula replace (%{{.*}}) in (4)
  // CHECK-SAME: outs(%[[A:.*]] = %[[X]] : tensor<4xf32>, %{{.*}} = %[[Y]] : tensor<?xf32>) attributes {note = "kept"} where {
  %r:2 = skript.formula replace (%i) in (4) outs(%a = %c : tensor<?xf32>, %b = %y : tensor<?xf32>)
      attributes {note = "kept"} where {
    // CHECK-NEXT: skript.access %[[A]][%{{.*}}] : tensor<4xf32>
    %e = skript.access %a[%i] : tensor<?xf32>
    %ok = skript.lt %zero, %e : f32
    skript.condition %ok
  } do {
    // CHECK: skript.access %[[A]][%{{.*}}] : tensor<4xf32>
    %e = skript.access %a[%i] : tensor<?xf32>
    skript.yield %e at [%i], %e at [%i] : f32, f32
  } : tensor<?xf32>, tensor<?xf32>
  %s = tensor.cast %r#0 : tensor<?xf32> to tensor<4xf32>
  // CHECK-NOT: tensor.cast
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %s, %r#1 : tensor<4xf32>, tensor<?xf32>
}

// Integers narrow to the nearest ones, bools to 0 and 1; narrow ones come back through wider types.
// CHECK-LABEL: func @narrowed
// CHECK-SAME: (%[[N:.*]]: i8)
func.func @narrowed(%n: i8) -> (tensor<3xi8>, i8, i8) {
  %t = arith.constant dense<[300, -7, -129]> : tensor<3xi64>
  %true = arith.constant true
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<[127, -7, -128]> : tensor<3xi8>
  %0 = skript.cast %t : tensor<3xi64> to tensor<3xi8>
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i8
  %1 = skript.cast %true : i1 to i8
  %2 = skript.cast %n : i8 to i64
  %3 = skript.cast %2 : i64 to i8
  // CHECK: return %[[T]], %[[ONE]], %[[N]]
  return %0, %1, %3 : tensor<3xi8>, i8, i8
}
