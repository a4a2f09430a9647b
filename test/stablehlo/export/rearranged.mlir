// RUN: skript-translate %s --split-input-file --to-stablehlo | skript-opt --split-input-file | FileCheck %s
// Places that one index decides: slices, reversals and repetitions instead of gathers.

// y[i] = x[|i - 2|]: a mirrored border
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<5xf32>
// CHECK-DAG:     %[[BORDER:.+]] = stablehlo.slice %[[X]] [0:3] :
// CHECK-DAG:     %[[BACK:.+]] = stablehlo.reverse %[[BORDER]], dims = [0]
// CHECK-DAG:     %[[REST:.+]] = stablehlo.slice %[[X]] [1:5] :
// CHECK:         stablehlo.concatenate %[[BACK]], %[[REST]], dim = 0
// CHECK-NOT:     gather
func.func @mirrored(%x: tensor<5xf32>) -> tensor<7xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<7xf32>
  %y = skript.formula assign (%i) in (7) outs(%acc = %init : tensor<7xf32>) do {
    %two = arith.constant 2 : index
    %d = skript.sub %i, %two : index
    %p = skript.abs %d : index
    %v = skript.access %x[%p] : tensor<5xf32>
    skript.yield %v at [%i] : f32
  } : tensor<7xf32>
  return %y : tensor<7xf32>
}

// -----

// y[i, j] = x[i % 2, j / 3]: repeated, and stretched
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<2x4xf32>
// CHECK:         %[[TILED:.+]] = stablehlo.broadcast_in_dim %[[X]], dims = [1, 2] : (tensor<2x4xf32>) -> tensor<3x2x4xf32>
// CHECK:         %[[ROWS:.+]] = stablehlo.reshape %[[TILED]] : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
// CHECK:         stablehlo.broadcast_in_dim %[[ROWS]], dims = [0, 1] : (tensor<6x4xf32>) -> tensor<6x4x3xf32>
// CHECK-NOT:     gather
func.func @repeated(%x: tensor<2x4xf32>) -> tensor<6x12xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<6x12xf32>
  %y = skript.formula assign (%i, %j) in (6, 12) outs(%acc = %init : tensor<6x12xf32>) do {
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %p = skript.mod %i, %two : index
    %q = skript.div %j, %three : index
    %v = skript.access %x[%p, %q] : tensor<2x4xf32>
    skript.yield %v at [%i, %j] : f32
  } : tensor<6x12xf32>
  return %y : tensor<6x12xf32>
}

// -----

// y[i] = x[i * i % 37]: too many pieces
// CHECK-LABEL: func.func public @main(
// CHECK:         stablehlo.gather
func.func @scattered(%x: tensor<37xf32>) -> tensor<40xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<40xf32>
  %y = skript.formula assign (%i) in (40) outs(%acc = %init : tensor<40xf32>) do {
    %prime = arith.constant 37 : index
    %s = skript.mul %i, %i : index
    %p = skript.mod %s, %prime : index
    %v = skript.access %x[%p] : tensor<37xf32>
    skript.yield %v at [%i] : f32
  } : tensor<40xf32>
  return %y : tensor<40xf32>
}
