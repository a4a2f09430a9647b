// RUN: skript-opt %s --skript-annotate-structure | FileCheck %s

// CHECK-LABEL: func.func @matmul
// CHECK:         structure = "contraction"
func.func @matmul(%A: tensor<4x16xf32>, %B: tensor<16x8xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = skript.formula sum (%i, %j, %l) in (4, 8, 16) outs(%acc = %init : tensor<4x8xf32>) do {
    %a = skript.access %A[%i, %l] : tensor<4x16xf32>
    %b = skript.access %B[%l, %j] : tensor<16x8xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK:         structure = "view"
func.func @transpose(%A: tensor<4x8xf32>, %init: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c = skript.formula assign (%i, %j) in (8, 4) outs(%acc = %init : tensor<8x4xf32>) do {
    %a = skript.access %A[%j, %i] : tensor<4x8xf32>
    skript.yield %a at [%i, %j] : f32
  } : tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @running
// CHECK:         structure = "sequential"
func.func @running(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %y = skript.formula replace (%i) in (7) outs(%acc = %x : tensor<8xf32>) do {
    %p = skript.add %i, %c1 : index
    %a = skript.access %acc[%i] : tensor<8xf32>
    skript.yield %a at [%p] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// The structure of a formula does not depend on extents, static or dynamic.
// CHECK-LABEL: func.func @open_matmul
// CHECK:         structure = "contraction"
func.func @open_matmul(%A: tensor<?x?xf32>, %B: tensor<?x?xf32>, %m: index, %n: index, %k: index, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = skript.formula sum (%i, %j, %l) in (%m, %n, %k) outs(%acc = %init : tensor<?x?xf32>) do {
    %a = skript.access %A[%i, %l] : tensor<?x?xf32>
    %b = skript.access %B[%l, %j] : tensor<?x?xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @open_pool
// CHECK:         structure = "window"
func.func @open_pool(%x: tensor<?xf32>, %n: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c2 = arith.constant 2 : index
  %y = skript.formula max (%i, %j) in (%n, 2) outs(%acc = %init : tensor<?xf32>) do {
    %s = skript.mul %i, %c2 : index
    %p = skript.add %s, %j : index
    %v = skript.access %x[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A run-time factor of a subscript: nobody knows whether two steps write one place.
// CHECK-LABEL: func.func @open_rows
// CHECK:         structure = "sequential"
func.func @open_rows(%x: tensor<?x?xf32>, %n: index, %k: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %y = skript.formula assign (%i, %j) in (%n, %k) outs(%acc = %init : tensor<?xf32>) do {
    %r = skript.mul %i, %k : index
    %p = skript.add %r, %j : index
    %v = skript.access %x[%i, %j] : tensor<?x?xf32>
    skript.yield %v at [%p] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A step that writes two places of a tensor is taken after the one before; a branch without results says nothing.
// CHECK-LABEL: func.func @twice
// CHECK:         structure = "sequential"
func.func @twice(%x: tensor<4xf32>, %n: index) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %init = tensor.empty() : tensor<8xf32>
  %y:2 = skript.formula assign (%i) in (4) outs(%a = %init : tensor<8xf32>, %b = %init : tensor<8xf32>)
      attributes {skript.same_tensor = array<i32: 0, 0>} do {
    %v = skript.access %x[%i] : tensor<4xf32>
    %p = skript.add %i, %c4 : index
    %late = skript.lt %p, %n : index
    scf.if %late {
    }
    skript.yield %v at [%i], %v at [%p] : f32, f32
  } : tensor<8xf32>, tensor<8xf32>
  return %y#0 : tensor<8xf32>
}
