// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-linalg=leave-sequential=true | FileCheck %s

// Steps write different elements, so their order has no effect.
// CHECK-LABEL: func.func @half
// CHECK:         linalg.generic
// CHECK:         tensor.insert_slice %{{.+}} into %{{.+}}[0, 4] [1, 4] [1, 1]
func.func @half(%x: tensor<1x4xf32>, %init: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %y = skript.formula replace (%i, %j) in (1, 4) outs(%acc = %init : tensor<1x8xf32>) do {
    %four = arith.constant 4 : index
    %p = skript.add %j, %four : index
    %v = skript.access %x[%i, %j] : tensor<1x4xf32>
    %w = skript.neg %v : f32
    skript.yield %w at [%i, %p] : f32
  } : tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// -----

// The last of several values is the result.
// CHECK-LABEL: func.func @last
// CHECK:         skript.formula replace
// CHECK-SAME:    not_linalg = "runs in the order of its loops"
func.func @last(%x: tensor<4x4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.formula replace (%i, %j) in (4, 4) outs(%acc = %init : tensor<4xf32>) do {
    %v = skript.access %x[%i, %j] : tensor<4x4xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
