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
