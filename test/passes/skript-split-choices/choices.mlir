// RUN: skript-opt %s --split-input-file --skript-split-choices --skript-drop-clamps --canonicalize | FileCheck %s

// The value of the sum is chosen by an index of the output: each element has a formula without a condition.
// CHECK-LABEL: func.func @pairs
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x4x2xf32>, %[[START:[^:]*]]: tensor<8x2xf32>
// CHECK:         %[[FIRST:.*]] = skript.formula sum (%[[I:.*]], %[[C:.*]], %[[J:.*]]) in (8, 1, 4)
// CHECK-NOT:     scf.if
// CHECK:           skript.access %[[X]][%[[I]], %[[J]], %c0{{.*}}]
// CHECK-NEXT:      skript.yield
// CHECK:         %[[SOME:.*]] = tensor.insert_slice %[[FIRST]] into %{{.*}}[0, 0] [8, 1] [1, 1]
// The start values of the second part are those of the formula.
// CHECK:         tensor.extract_slice %[[START]][0, 1] [8, 1] [1, 1]
// CHECK:         %[[SECOND:.*]] = skript.formula sum (%[[I:.*]], %[[C:.*]], %[[J:.*]]) in (8, 1, 4)
// CHECK-NOT:     scf.if
// CHECK:           %[[A:.*]] = skript.access %[[X]][%[[I]], %[[J]], %c1{{.*}}]
// CHECK-NEXT:      %[[B:.*]] = skript.neg %[[A]]
// CHECK-NEXT:      skript.yield %[[B]]
// CHECK:         tensor.insert_slice %[[SECOND]] into %[[SOME]][0, 1] [8, 1] [1, 1]
func.func @pairs(%x: tensor<8x4x2xf32>, %init: tensor<8x2xf32>) -> tensor<8x2xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = skript.formula sum (%i, %c, %j) in (8, 2, 4) outs(%acc = %init : tensor<8x2xf32>) do {
    %is_first = skript.eq %c, %c0 : index
    %value = scf.if %is_first -> (f32) {
      %a = skript.access %x[%i, %j, %c0] : tensor<8x4x2xf32>
      scf.yield %a : f32
    } else {
      %a = skript.access %x[%i, %j, %c1] : tensor<8x4x2xf32>
      %b = skript.neg %a : f32
      scf.yield %b : f32
    }
    skript.yield %value at [%i, %c] : f32
  } : tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// Selections with an inequality and a bound, of two loops: 2 · 2 parts.
// CHECK-LABEL: func.func @both
// CHECK-COUNT-4: skript.formula sum
// CHECK-NOT:     skript.select
// CHECK-NOT:     skript.formula
func.func @both(%x: tensor<8x6x4xf32>, %init: tensor<8x6xf32>) -> tensor<8x6xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %y = skript.formula sum (%i, %k, %j) in (8, 6, 4) outs(%acc = %init : tensor<8x6xf32>) do {
    %a = skript.access %x[%i, %k, %j] : tensor<8x6x4xf32>
    %b = skript.neg %a : f32
    %is_other = skript.ne %i, %c0 : index
    %s = skript.select %is_other, %a, %b : f32
    %is_low = skript.lt %k, %c3 : index
    %t = skript.select %is_low, %s, %a : f32
    skript.yield %t at [%i, %k] : f32
  } : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
