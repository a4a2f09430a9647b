// RUN: skript-translate %s --split-input-file --to-stablehlo | skript-opt --split-input-file | FileCheck %s
// A running best is a reduction of elements with their positions.

// p[i] := r where x[i, r] < x[i, p[i]], from zero: the first of equal ones, a NaN only in the first place
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<3x5xf32>
// CHECK:         %[[BEST:.+]]:2 = stablehlo.reduce(%[[X]] init: %{{.+}}), (%{{.+}} init: %{{.+}}) across dimensions = [1]
// CHECK:           stablehlo.compare LT, %[[A:.+]], %[[B:.+]], FLOAT
// CHECK:           stablehlo.compare EQ, %[[A]], %[[B]], FLOAT
// CHECK:         %[[FIRST:.+]] = stablehlo.slice %[[X]] [0:3, 0:1]
// CHECK:         %[[FLAT:.+]] = stablehlo.reshape %[[FIRST]]
// CHECK:         %[[BETTER:.+]] = stablehlo.compare LT, %[[BEST]]#0, %[[FLAT]], FLOAT
// CHECK:         stablehlo.select %[[BETTER]], %[[BEST]]#1
// CHECK-NOT:     stablehlo.while
func.func @least(%x: tensor<3x5xf32>) -> tensor<3xi64> attributes {skript.entry} {
  %zero = arith.constant 0 : i64
  %init = tensor.splat %zero : tensor<3xi64>
  %p = skript.formula replace (%i, %r) in (3, 5) outs(%acc = %init : tensor<3xi64>) where {
    %new = skript.access %x[%i, %r] : tensor<3x5xf32>
    %at = skript.access %acc[%i] : tensor<3xi64>
    %s = skript.cast %at : i64 to index
    %best = skript.access %x[%i, %s] : tensor<3x5xf32>
    %better = skript.lt %new, %best : f32
    skript.condition %better
  } do {
    %v = skript.cast %r : index to i64
    skript.yield %v at [%i] : i64
  } : tensor<3xi64>
  return %p : tensor<3xi64>
}

// -----

// Positions that do not begin at zero: a loop.
// CHECK-LABEL: func.func public @main(
// CHECK:         stablehlo.while
func.func @begun(%x: tensor<3x5xf32>, %begin: tensor<3xi64>) -> tensor<3xi64> attributes {skript.entry} {
  %p = skript.formula replace (%i, %r) in (3, 5) outs(%acc = %begin : tensor<3xi64>) where {
    %new = skript.access %x[%i, %r] : tensor<3x5xf32>
    %at = skript.access %acc[%i] : tensor<3xi64>
    %s = skript.cast %at : i64 to index
    %best = skript.access %x[%i, %s] : tensor<3x5xf32>
    %better = skript.lt %new, %best : f32
    skript.condition %better
  } do {
    %v = skript.cast %r : index to i64
    skript.yield %v at [%i] : i64
  } : tensor<3xi64>
  return %p : tensor<3xi64>
}
