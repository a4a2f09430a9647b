// RUN: skript-opt %s --split-input-file --skript-drop-clamps | FileCheck %s

// Each element of the positions is one of those that were taken, and another element another one: their difference may be anything.
// CHECK-LABEL: func.func @elements
// CHECK:         %[[P:.+]] = skript.access %{{.+}}[%c0]
// CHECK:         %[[Q:.+]] = skript.access %{{.+}}[%c1]
// CHECK:         %[[FIRST:.+]] = skript.cast %[[P]]
// CHECK:         %[[SECOND:.+]] = skript.cast %[[Q]]
// CHECK:         %[[APART:.+]] = skript.sub %[[FIRST]], %[[SECOND]]
// CHECK:         %[[AT:.+]] = skript.max %[[APART]], %c0
// CHECK:         skript.access %{{.+}}[%[[AT]]]
func.func @elements(%x: tensor<5xf32>) -> tensor<2xi64> attributes {skript.entry} {
  %none = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = tensor.splat %none : tensor<2xi64>
  %y = skript.formula replace (%i, %k) in (5, 2) outs(%acc = %init : tensor<2xi64>) where {
    %p = skript.access %acc[%c0] : tensor<2xi64>
    %q = skript.access %acc[%c1] : tensor<2xi64>
    %first = skript.cast %p : i64 to index
    %second = skript.cast %q : i64 to index
    %apart = skript.sub %first, %second : index
    %at = skript.max %apart, %c0 : index
    %old = skript.access %x[%at] : tensor<5xf32>
    %new = skript.access %x[%i] : tensor<5xf32>
    %ok = skript.gt %new, %old : f32
    skript.condition %ok
  } do {
    %v = skript.cast %i : index to i64
    skript.yield %v at [%k] : i64
  } : tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

// One of two, and one of the same two: perhaps the other one.
// CHECK-LABEL: func.func @either
// CHECK:         %[[APART:.+]] = skript.sub
// CHECK:         %[[AT:.+]] = skript.max %[[APART]], %c0
// CHECK:         skript.access %{{.+}}[%[[AT]]]
func.func @either(%x: tensor<8xf32>, %a: tensor<8xi1>, %b: tensor<8xi1>) -> tensor<8xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %init = tensor.splat %zero : tensor<8xf32>
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) do {
    %one = skript.access %a[%i] : tensor<8xi1>
    %other = skript.access %b[%i] : tensor<8xi1>
    %p = skript.select %one, %c7, %c0 : index
    %q = skript.select %other, %c7, %c0 : index
    %apart = skript.sub %p, %q : index
    %at = skript.max %apart, %c0 : index
    %v = skript.access %x[%at] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// The initial or selected position is nevertheless in bounds.
// CHECK-LABEL: func.func @place
// CHECK:         %[[P:.+]] = skript.access %{{.+}}[%c0]
// CHECK:         %[[AT:.+]] = skript.cast %[[P]]
// CHECK-NOT:     skript.{{min|max}}
// CHECK:         skript.access %{{.+}}[%[[AT]]] : tensor<5xf32>
func.func @place(%x: tensor<5xf32>) -> tensor<1xi64> attributes {skript.entry} {
  %none = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %init = tensor.splat %none : tensor<1xi64>
  %y = skript.formula replace (%i) in (5) outs(%acc = %init : tensor<1xi64>) where {
    %p = skript.access %acc[%c0] : tensor<1xi64>
    %first = skript.cast %p : i64 to index
    %low = skript.max %first, %c0 : index
    %at = skript.min %low, %c4 : index
    %old = skript.access %x[%at] : tensor<5xf32>
    %new = skript.access %x[%i] : tensor<5xf32>
    %ok = skript.gt %new, %old : f32
    skript.condition %ok
  } do {
    %v = skript.cast %i : index to i64
    skript.yield %v at [%c0] : i64
  } : tensor<1xi64>
  return %y : tensor<1xi64>
}
