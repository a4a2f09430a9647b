// RUN: skript-opt %s --skript-split-choices | FileCheck %s

// No module is refused. These formulas are not split: a map, a formula that runs in order, a condition on an index of the sum, and
// conditions that change more often than a formula has parts.
// CHECK-LABEL: func.func @map
// CHECK-COUNT-1: skript.formula assign
// CHECK-NOT:     skript.formula
func.func @map(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) do {
    %a = skript.access %x[%i] : tensor<8xf32>
    %b = skript.neg %a : f32
    %is_low = skript.lt %i, %c4 : index
    %t = skript.select %is_low, %a, %b : f32
    skript.yield %t at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @ordered
// CHECK-COUNT-1: skript.formula replace
// CHECK-NOT:     skript.formula
func.func @ordered(%x: tensor<8x4xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %y = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %b = skript.neg %a : f32
    %is_low = skript.lt %i, %c4 : index
    %t = skript.select %is_low, %a, %b : f32
    skript.yield %t at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @summed
// CHECK-COUNT-1: skript.formula sum
// CHECK-NOT:     skript.formula
func.func @summed(%x: tensor<8x4xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c2 = arith.constant 2 : index
  %y = skript.formula sum (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %b = skript.neg %a : f32
    %is_low = skript.lt %j, %c2 : index
    %t = skript.select %is_low, %a, %b : f32
    skript.yield %t at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @alternating
// CHECK-COUNT-1: skript.formula sum
// CHECK-NOT:     skript.formula
func.func @alternating(%x: tensor<32x4xf32>, %init: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %y = skript.formula sum (%i, %j) in (32, 4) outs(%acc = %init : tensor<32xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<32x4xf32>
    %b = skript.neg %a : f32
    %r = skript.mod %i, %c2 : index
    %is_even = skript.eq %r, %c0 : index
    %t = skript.select %is_even, %a, %b : f32
    skript.yield %t at [%i] : f32
  } : tensor<32xf32>
  return %y : tensor<32xf32>
}

// An output of 2^36 elements is split without a visit to each of its indices.
// CHECK-LABEL: func.func @large
// CHECK-COUNT-2: skript.formula sum
// CHECK-NOT:     skript.formula
func.func @large(%x: tensor<4xf32>, %init: tensor<68719476736xf32>) -> tensor<68719476736xf32> {
  %c7 = arith.constant 7 : index
  %y = skript.formula sum (%i, %j) in (68719476736, 4) outs(%acc = %init : tensor<68719476736xf32>) do {
    %a = skript.access %x[%j] : tensor<4xf32>
    %b = skript.neg %a : f32
    %is_low = skript.lt %i, %c7 : index
    %t = skript.select %is_low, %a, %b : f32
    skript.yield %t at [%i] : f32
  } : tensor<68719476736xf32>
  return %y : tensor<68719476736xf32>
}
