// RUN: skript-opt %s --skript-drop-covered-fills | FileCheck %s

// Two adjacent blocks cover the tensor.
// CHECK-LABEL: func.func @joined
// CHECK:         %[[EMPTY:.+]] = tensor.empty() : tensor<2x8xf32>
// CHECK:         %[[FIRST:.+]] = skript.formula assign {{.*}} outs(%{{.+}} = %[[EMPTY]] :
// CHECK:         skript.formula assign {{.*}} outs(%{{.+}} = %[[FIRST]] :
func.func @joined(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c3 = arith.constant 3 : index
  %init = tensor.splat %zero : tensor<2x8xf32>
  %0 = skript.formula assign (%i, %j) in (2, 3) outs(%acc = %init : tensor<2x8xf32>) do {
    %e = skript.access %a[%i, %j] : tensor<2x3xf32>
    skript.yield %e at [%i, %j] : f32
  } : tensor<2x8xf32>
  %1 = skript.formula assign (%i, %j) in (2, 5) outs(%acc = %0 : tensor<2x8xf32>) do {
    %e = skript.access %b[%i, %j] : tensor<2x5xf32>
    %p = skript.add %j, %c3 : index
    skript.yield %e at [%i, %p] : f32
  } : tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// So do alternating elements; a constant is also a fill.
// CHECK-LABEL: func.func @in_turns
// CHECK:         tensor.empty() : tensor<8xf32>
func.func @in_turns(%a: tensor<4xf32>) -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %init = arith.constant dense<0.0> : tensor<8xf32>
  %0 = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<8xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    %p = skript.mul %i, %c2 : index
    %q = skript.add %p, %c1 : index
    skript.yield %e at [%q] : f32
  } : tensor<8xf32>
  %1 = skript.formula assign (%i) in (4) outs(%acc = %0 : tensor<8xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    %p = skript.mul %i, %c2 : index
    skript.yield %e at [%p] : f32
  } : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A gap, a predicate, a sum, a write that meets another one, or somebody who looks between: the fill stays.
// CHECK-LABEL: func.func @kept
// CHECK-NOT:     tensor.empty
func.func @kept(%a: tensor<4xf32>, %p: i1) -> (tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %init = tensor.splat %zero : tensor<8xf32>
  %small = tensor.splat %zero : tensor<4xf32>
  %gap = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<8xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    %q = skript.mul %i, %c2 : index
    skript.yield %e at [%q] : f32
  } : tensor<8xf32>
  %guarded = skript.formula assign (%i) in (4) outs(%acc = %small : tensor<4xf32>) where {
    skript.condition %p
  } do {
    %e = skript.access %a[%i] : tensor<4xf32>
    skript.yield %e at [%i] : f32
  } : tensor<4xf32>
  %sum = skript.formula sum (%i) in (4) outs(%acc = %small : tensor<4xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    skript.yield %e at [%i] : f32
  } : tensor<4xf32>
  %first = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<8xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    skript.yield %e at [%i] : f32
  } : tensor<8xf32>
  %second = skript.formula assign (%i) in (4) outs(%acc = %first : tensor<8xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    %q = skript.add %i, %c4 : index
    skript.yield %e at [%q] : f32
  } : tensor<8xf32>
  %low = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<8xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    skript.yield %e at [%i] : f32
  } : tensor<8xf32>
  %again = skript.formula assign (%i) in (4) outs(%acc = %low : tensor<8xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    skript.yield %e at [%i] : f32
  } : tensor<8xf32>
  return %gap, %guarded, %sum, %first, %second, %again
    : tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A formula that runs over the same dynamic extents covers them, in any order of its indices.
// CHECK-LABEL: func.func @open
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
// CHECK:         %[[EMPTY:.+]] = tensor.empty(%[[N]], %[[M]]) : tensor<?x3x?xf32>
// CHECK:         skript.formula assign {{.*}} outs(%{{.+}} = %[[EMPTY]] :
func.func @open(%a: tensor<?x3x?xf32>, %n: index, %m: index) -> tensor<?x3x?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n, %m] : tensor<?x3x?xf32>
  %0 = skript.formula assign (%k, %i, %j) in (%m, %n, 3) outs(%acc = %init : tensor<?x3x?xf32>) do {
    %e = skript.access %a[%i, %j, %k] : tensor<?x3x?xf32>
    skript.yield %e at [%i, %j, %k] : f32
  } : tensor<?x3x?xf32>
  return %0 : tensor<?x3x?xf32>
}

// An extent of one is covered by its only index.
// CHECK-LABEL: func.func @open_images
// CHECK:         tensor.empty(%{{.+}}) : tensor<1x?xf32>
func.func @open_images(%a: tensor<1x?xf32>, %n: index) -> tensor<1x?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<1x?xf32>
  %0 = skript.formula assign (%i, %j) in (1, %n) outs(%acc = %init : tensor<1x?xf32>) do {
    %e = skript.access %a[%i, %j] : tensor<1x?xf32>
    skript.yield %e at [%i, %j] : f32
  } : tensor<1x?xf32>
  return %0 : tensor<1x?xf32>
}

// One that runs over another value, over the other extent, or over one that is added up, leaves something.
// CHECK-LABEL: func.func @open_in_part
// CHECK-NOT:     tensor.empty
func.func @open_in_part(%a: tensor<?x?xf32>, %n: index, %m: index) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n, %m] : tensor<?x?xf32>
  %fewer = skript.formula assign (%i, %j) in (%n, 2) outs(%acc = %init : tensor<?x?xf32>) do {
    %e = skript.access %a[%i, %j] : tensor<?x?xf32>
    skript.yield %e at [%i, %j] : f32
  } : tensor<?x?xf32>
  %turned = skript.formula assign (%i, %j) in (%n, %m) outs(%acc = %init : tensor<?x?xf32>) do {
    %e = skript.access %a[%i, %j] : tensor<?x?xf32>
    skript.yield %e at [%j, %i] : f32
  } : tensor<?x?xf32>
  %diagonal = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?x?xf32>) do {
    %e = skript.access %a[%i, %i] : tensor<?x?xf32>
    skript.yield %e at [%i, %i] : f32
  } : tensor<?x?xf32>
  %sum = skript.formula sum (%i, %j) in (%n, %m) outs(%acc = %init : tensor<?x?xf32>) do {
    %e = skript.access %a[%i, %j] : tensor<?x?xf32>
    skript.yield %e at [%i, %j] : f32
  } : tensor<?x?xf32>
  return %fewer, %turned, %diagonal, %sum : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
