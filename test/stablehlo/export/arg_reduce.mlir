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

// Positions that do not begin at zero stay where they begin, unless something is better than what stands there.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<3x5xf32>, %[[BEGIN:.+]]: tensor<3xi64>
// CHECK-NOT:     stablehlo.while
// CHECK-DAG:     %[[BEST:.+]]:2 = stablehlo.reduce(%[[X]] init: %{{.+}}), (%{{.+}} init: %{{.+}}) across dimensions = [1]
// CHECK-DAG:     %[[HELD:.+]] = "stablehlo.gather"(%[[X]], %{{.+}})
// CHECK:         %[[BETTER:.+]] = stablehlo.compare LT, %[[BEST]]#0, %[[HELD]], FLOAT
// CHECK:         stablehlo.select %[[BETTER]], %[[BEST]]#1, %[[BEGIN]]
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

// -----

// The best of an expression: the distance from y[i].
// CHECK-LABEL: func.func public @main(
// CHECK-NOT:     stablehlo.while
// CHECK:         %[[DISTANCE:.+]] = stablehlo.abs %{{.+}} : tensor<3x5xf32>
// CHECK:         stablehlo.reduce(%[[DISTANCE]] init: %{{.+}}), (%{{.+}} init: %{{.+}}) across dimensions = [1]
func.func @nearest(%x: tensor<5xf32>, %y: tensor<3xf32>) -> tensor<3xi64> attributes {skript.entry} {
  %zero = arith.constant 0 : i64
  %init = tensor.splat %zero : tensor<3xi64>
  %p = skript.formula replace (%i, %r) in (3, 5) outs(%acc = %init : tensor<3xi64>) where {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %from = skript.access %y[%i] : tensor<3xf32>
    %new = skript.access %x[%r] : tensor<5xf32>
    %d = skript.sub %new, %from : f32
    %distance = skript.abs %d : f32
    %at = skript.access %acc[%i] : tensor<3xi64>
    %s = skript.cast %at : i64 to index
    %low = skript.min %s, %c4 : index
    %inside = skript.max %low, %c0 : index
    %best = skript.access %x[%inside] : tensor<5xf32>
    %e = skript.sub %best, %from : f32
    %least = skript.abs %e : f32
    %better = skript.lt %distance, %least : f32
    skript.condition %better
  } do {
    %v = skript.cast %r : index to i64
    skript.yield %v at [%i] : i64
  } : tensor<3xi64>
  return %p : tensor<3xi64>
}

// -----

// Another expression of the best than of the new one: a loop.
// CHECK-LABEL: func.func public @main(
// CHECK:         stablehlo.while
func.func @unlike(%x: tensor<5xf32>) -> tensor<3xi64> attributes {skript.entry} {
  %zero = arith.constant 0 : i64
  %init = tensor.splat %zero : tensor<3xi64>
  %p = skript.formula replace (%i, %r) in (3, 5) outs(%acc = %init : tensor<3xi64>) where {
    %new = skript.access %x[%r] : tensor<5xf32>
    %at = skript.access %acc[%i] : tensor<3xi64>
    %s = skript.cast %at : i64 to index
    %best = skript.access %x[%s] : tensor<5xf32>
    %least = skript.abs %best : f32
    %better = skript.lt %new, %least : f32
    skript.condition %better
  } do {
    %v = skript.cast %r : index to i64
    skript.yield %v at [%i] : i64
  } : tensor<3xi64>
  return %p : tensor<3xi64>
}

// -----

// Of a line that is filled in part, what lies behind its end is worst, and stands nowhere.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<2x6xf32>, %[[N:.+]]: tensor<i32>
// CHECK-NOT:     stablehlo.while
// CHECK:         %[[INSIDE:.+]] = stablehlo.compare LT, %{{.+}}, %{{.+}}, SIGNED : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
// CHECK:         %[[SELECTED:.+]] = stablehlo.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<2x6xi1>, tensor<2x6xf32>
// CHECK:         %[[PLACES:.+]] = stablehlo.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<2x6xi1>, tensor<2x6xi64>
// CHECK:         stablehlo.reduce(%[[SELECTED]] init: %{{.+}}), (%[[PLACES]] init: %{{.+}})
// CHECK-NOT:     stablehlo.while
func.func @filled(%x: tensor<2x?xf32> {skript.name = "x", skript.role = "input", skript.bounds = array<i64: 2, 6>}) -> (tensor<2xi64> {skript.name = "y", skript.role = "output"}) attributes {skript.entry} {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?xf32>
  %zeros = arith.constant dense<0> : tensor<2xi64>
  %y = skript.formula replace (%i, %r) in (2, %n) outs(%p = %zeros : tensor<2xi64>) where {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %new = skript.access %x[%i, %r] : tensor<2x?xf32>
    %held = skript.access %p[%i] : tensor<2xi64>
    %at = skript.cast %held : i64 to index
    %last = skript.sub %n, %one : index
    %low = skript.min %at, %last : index
    %place = skript.max %low, %c0 : index
    %best = skript.access %x[%i, %place] : tensor<2x?xf32>
    %better = skript.gt %new, %best : f32
    skript.condition %better
  } do {
    %v = skript.cast %r : index to i64
    skript.yield %v at [%i] : i64
  } : tensor<2xi64>
  return %y : tensor<2xi64>
}
