// RUN: skript-translate %s --split-input-file --to-stablehlo | skript-opt --split-input-file | FileCheck %s
// Each form that a formula takes. That the numbers are right is shown in XLA, by test/stablehlo/xla.py.

// C[i,j] += A[i,l] * B[l,j]
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[A:.+]]: tensor<4x16xf32>, %[[B:.+]]: tensor<16x8xf32>) -> tensor<4x8xf32>
// CHECK:         %[[BT:.+]] = stablehlo.transpose %[[B]], dims = [1, 0]
// CHECK:         %[[DOT:.+]] = stablehlo.dot_general %[[A]], %[[BT]], contracting_dims = [1] x [1]
// CHECK-NOT:     gather
// CHECK:         stablehlo.add %{{.+}}, %[[DOT]]
func.func @product(%A: tensor<4x16xf32>, %B: tensor<16x8xf32>) -> tensor<4x8xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4x8xf32>
  %c = skript.formula sum (%i, %j, %l) in (4, 8, 16) outs(%acc = %init : tensor<4x8xf32>) do {
    %a = skript.access %A[%i, %l] : tensor<4x16xf32>
    %b = skript.access %B[%l, %j] : tensor<16x8xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

// y[i] = x[7 - 2 i], with a place of the output skipped
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<8xf32>
// CHECK:         %[[SLICE:.+]] = stablehlo.slice %[[X]] [1:8:2]
// CHECK:         %[[BACK:.+]] = stablehlo.reverse %[[SLICE]], dims = [0]
// CHECK:         stablehlo.select
func.func @slice(%x: tensor<8xf32>) -> tensor<4xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) where {
    %one = arith.constant 1 : index
    %p = skript.ne %i, %one : index
    skript.condition %p
  } do {
    %two = arith.constant 2 : index
    %seven = arith.constant 7 : index
    %d = skript.mul %i, %two : index
    %s = skript.sub %seven, %d : index
    %v = skript.access %x[%s] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// y[i] = x[t[i]]: data in a subscript
// CHECK-LABEL: func.func public @main(
// CHECK:         "stablehlo.gather"(%{{.+}}, %{{.+}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}>
func.func @gather(%x: tensor<9x3xf32>, %t: tensor<4xi64>) -> tensor<4x3xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4x3xf32>
  %y = skript.formula assign (%i, %j) in (4, 3) outs(%acc = %init : tensor<4x3xf32>) do {
    %n = skript.access %t[%i] : tensor<4xi64>
    %s = skript.cast %n : i64 to index
    %v = skript.access %x[%s, %j] : tensor<9x3xf32>
    skript.yield %v at [%i, %j] : f32
  } : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// y[t[i]] += x[i] where t[i] < 4
// CHECK-LABEL: func.func public @main(
// CHECK:         %[[LESS:.+]] = stablehlo.compare LT
// CHECK:         %[[NOWHERE:.+]] = stablehlo.select %[[LESS]]
// CHECK:         "stablehlo.scatter"
// CHECK:           stablehlo.add
func.func @scatter(%x: tensor<9xf32>, %t: tensor<9xi64>) -> tensor<4xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula sum (%i) in (9) outs(%acc = %init : tensor<4xf32>) where {
    %four = arith.constant 4 : index
    %n = skript.access %t[%i] : tensor<9xi64>
    %s = skript.cast %n : i64 to index
    %p = skript.lt %s, %four : index
    skript.condition %p
  } do {
    %n = skript.access %t[%i] : tensor<9xi64>
    %s = skript.cast %n : i64 to index
    %v = skript.access %x[%i] : tensor<9xf32>
    skript.yield %v at [%s] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// y[b, t] := y[b, t - 1] + x[b, t]: a loop over t alone
// CHECK-LABEL: func.func public @main(
// CHECK:         stablehlo.while({{.+}}) : tensor<i64>, tensor<3x6xf32>
// CHECK:           stablehlo.constant dense<5> : tensor<i64>
// CHECK:           stablehlo.dynamic_update_slice %{{.+}} : (tensor<3x6xf32>, tensor<3x1xf32>, tensor<i64>, tensor<i64>)
func.func @scan(%x: tensor<3x6xf32>) -> tensor<3x6xf32> attributes {skript.entry} {
  %y = skript.formula replace (%b, %t) in (3, 5) outs(%acc = %x : tensor<3x6xf32>) do {
    %one = arith.constant 1 : index
    %u = skript.add %t, %one : index
    %p = skript.access %acc[%b, %t] : tensor<3x6xf32>
    %n = skript.access %x[%b, %u] : tensor<3x6xf32>
    %v = skript.add %p, %n : f32
    skript.yield %v at [%b, %u] : f32
  } : tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}
