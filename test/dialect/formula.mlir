// RUN: skript-opt %s | skript-opt | FileCheck %s
// RUN: skript-opt %s --mlir-print-op-generic | skript-opt | FileCheck %s
// RUN: skript-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func @matmul
func.func @matmul(%A: tensor<4x16xf32>, %B: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4x8xf32>
  // CHECK: skript.formula sum (%[[I:.*]], %[[J:.*]], %[[K:.*]]) in (4, 8, 16)
  // CHECK-SAME: outs(%{{.*}} = %{{.*}} : tensor<4x8xf32>) do {
  %c = skript.formula sum (%i, %j, %l) in (4, 8, 16) outs(%acc = %init : tensor<4x8xf32>) do {
    // CHECK-NEXT: skript.access %{{.*}}[%[[I]], %[[K]]] : tensor<4x16xf32>
    %a = skript.access %A[%i, %l] : tensor<4x16xf32>
    %b = skript.access %B[%l, %j] : tensor<16x8xf32>
    // CHECK: skript.mul %{{.*}}, %{{.*}} : f32
    %v = skript.mul %a, %b : f32
    // CHECK-NEXT: skript.yield %{{.*}} at [%[[I]], %[[J]]] : f32
    skript.yield %v at [%i, %j] : f32
    // CHECK-NEXT: } : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// A predicate, and bounds that are values. Names of outer values do not collide with those of the two regions.
// CHECK-LABEL: func @window
func.func @window(%x: tensor<?xf32>, %init: tensor<?xf32>, %i: index, %acc: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  // CHECK: skript.formula sum (%[[I:.*]], %[[J:.*]]) in (%[[N:.*]], 3) outs({{.*}}) where {
  %y = skript.formula sum (%p, %q) in (%n, 3) outs(%out = %init : tensor<?xf32>) where {
    // CHECK-NEXT: skript.add %[[I]], %[[J]] : index
    %s = skript.add %p, %q : index
    %t = skript.sub %s, %c1 : index
    %lo = skript.ge %t, %c0 : index
    %hi = skript.lt %t, %n : index
    %ok = skript.and %lo, %hi : i1
    // CHECK: skript.condition %{{.*}}
    skript.condition %ok
    // CHECK-NEXT: } do {
  } do {
    // CHECK-NEXT: skript.add %[[I]], %[[J]] : index
    %s = skript.add %p, %q : index
    %t = skript.sub %s, %c1 : index
    %v = skript.access %x[%t] : tensor<?xf32>
    skript.yield %v at [%p] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Two destinations of different ranks and types, one of them read.
// CHECK-LABEL: func @pair
func.func @pair(%x: tensor<8xf32>, %best: tensor<f32>, %where: tensor<1xi64>) -> (tensor<f32>, tensor<1xi64>) {
  %c0 = arith.constant 0 : index
  // CHECK: skript.formula replace (%[[I:.*]]) in (8) outs(%[[A:.*]] = %{{.*}} : tensor<f32>, %{{.*}} = %{{.*}} : tensor<1xi64>) attributes {note = "kept"} where {
  // CHECK: skript.access %[[A]][] : tensor<f32>
  // CHECK: skript.yield %{{.*}} at [], %{{.*}} at [%{{.*}}] : f32, i64
  // CHECK: } : tensor<f32>, tensor<1xi64>
  %r:2 = skript.formula replace (%i) in (8) outs(%m = %best : tensor<f32>, %w = %where : tensor<1xi64>)
      attributes {note = "kept"} where {
    %old = skript.access %m[] : tensor<f32>
    %new = skript.access %x[%i] : tensor<8xf32>
    %ok = skript.gt %new, %old : f32
    skript.condition %ok
  } do {
    %new = skript.access %x[%i] : tensor<8xf32>
    %place = skript.cast %i : index to i64
    skript.yield %new at [], %place at [%c0] : f32, i64
  } : tensor<f32>, tensor<1xi64>
  return %r#0, %r#1 : tensor<f32>, tensor<1xi64>
}

// No index at all; a bound of zero.
// CHECK-LABEL: func @degenerate
func.func @degenerate(%x: tensor<i1>, %y: tensor<0xi1>) -> (tensor<i1>, tensor<0xi1>) {
  %t = arith.constant true
  // CHECK: skript.formula all () in () outs(
  %0 = skript.formula all () in () outs(%a = %x : tensor<i1>) do {
    skript.yield %t at [] : i1
  } : tensor<i1>
  // CHECK: skript.formula any (%{{.*}}) in (0) outs(
  %1 = skript.formula any (%i) in (0) outs(%a = %y : tensor<0xi1>) do {
    skript.yield %t at [%i] : i1
  } : tensor<0xi1>
  return %0, %1 : tensor<i1>, tensor<0xi1>
}

// A formula inside a formula's branch, and every kind.
// CHECK-LABEL: func @kinds
func.func @kinds(%x: tensor<4xi64>) -> tensor<4xi64> {
  // CHECK: skript.formula assign
  %0 = skript.formula assign (%i) in (4) outs(%a = %x : tensor<4xi64>) do {
    %e = skript.access %x[%i] : tensor<4xi64>
    skript.yield %e at [%i] : i64
  } : tensor<4xi64>
  // CHECK: skript.formula product
  %1 = skript.formula product (%i) in (4) outs(%a = %0 : tensor<4xi64>) do {
    %e = skript.access %x[%i] : tensor<4xi64>
    skript.yield %e at [%i] : i64
  } : tensor<4xi64>
  // CHECK: skript.formula min
  %2 = skript.formula min (%i) in (4) outs(%a = %1 : tensor<4xi64>) do {
    %e = skript.access %x[%i] : tensor<4xi64>
    skript.yield %e at [%i] : i64
  } : tensor<4xi64>
  // CHECK: skript.formula max
  %3 = skript.formula max (%i) in (4) outs(%a = %2 : tensor<4xi64>) do {
    %e = skript.access %x[%i] : tensor<4xi64>
    skript.yield %e at [%i] : i64
  } : tensor<4xi64>
  return %3 : tensor<4xi64>
}
