// RUN: skript-translate %s --split-input-file --to-stablehlo | skript-opt --split-input-file | FileCheck %s
// Windows that slide over elements that stand apart, backwards.

// y[b, o, i] += x[b, c, (i - j + 1) / 2] * w[c, o, j] where (i - j + 1) % 2 == 0 and the place lies inside
// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<2x3x5xf32>, %[[W:.+]]: tensor<3x4x3xf32>
// CHECK-NOT:     gather
// CHECK:         stablehlo.if
// CHECK-NOT:     gather
// CHECK:         %[[BACK:.+]] = stablehlo.reverse %{{.+}}, dims = [2]
// CHECK:         stablehlo.convolution(%{{.+}}, %[[BACK]]) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = {{\[\[}}1, 1]], lhs_dilate = [2], rhs_dilate = [1]}
func.func @apart(%x: tensor<2x3x5xf32>, %w: tensor<3x4x3xf32>) -> tensor<2x4x9xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<2x4x9xf32>
  %y = skript.formula sum (%b, %o, %i, %c, %j) in (2, 4, 9, 3, 3) outs(%acc = %init : tensor<2x4x9xf32>) where {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %d = skript.sub %i, %j : index
    %p = skript.add %d, %one : index
    %rest = skript.mod %p, %two : index
    %evenly = skript.eq %rest, %none : index
    %q = skript.div %p, %two : index
    %five = arith.constant 5 : index
    %low = skript.ge %q, %none : index
    %high = skript.lt %q, %five : index
    %in = skript.and %low, %high : i1
    %reads = skript.and %evenly, %in : i1
    skript.condition %reads
  } do {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %d = skript.sub %i, %j : index
    %p = skript.add %d, %one : index
    %q = skript.div %p, %two : index
    %e = skript.access %x[%b, %c, %q] : tensor<2x3x5xf32>
    %f = skript.access %w[%c, %o, %j] : tensor<3x4x3xf32>
    %v = skript.mul %e, %f : f32
    skript.yield %v at [%b, %o, %i] : f32
  } : tensor<2x4x9xf32>
  return %y : tensor<2x4x9xf32>
}

// -----

// The same without the condition on the remainder: a window over each element twice, not over elements that stand apart.
// CHECK-LABEL: func.func public @main(
// CHECK:         stablehlo.broadcast_in_dim %{{.+}}, dims = [0] : (tensor<5xf32>) -> tensor<5x2xf32>
// CHECK:         stablehlo.convolution{{.+}} window = {stride = [1], pad = {{\[\[}}0, 0]], rhs_dilate = [1]}
// CHECK-SAME:      (tensor<1x1x10xf32>, tensor<1x1x3xf32>) -> tensor<1x1x8xf32>
func.func @repeated(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<8xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<8xf32>
  %y = skript.formula sum (%i, %j) in (8, 3) outs(%acc = %init : tensor<8xf32>) do {
    %two = arith.constant 2 : index
    %p = skript.add %i, %j : index
    %q = skript.div %p, %two : index
    %e = skript.access %x[%q] : tensor<5xf32>
    %f = skript.access %w[%j] : tensor<3xf32>
    %v = skript.mul %e, %f : f32
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A kernel of one element: y[o, i] += x[c, i / 2] * w[c, o] where i % 2 == 0
// CHECK-LABEL: func.func public @main(
// CHECK:         stablehlo.convolution{{.+}} window = {stride = [1], pad = {{\[\[}}0, 0]], lhs_dilate = [2], rhs_dilate = [1]}
func.func @single(%x: tensor<3x5xf32>, %w: tensor<3x4xf32>) -> tensor<4x9xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4x9xf32>
  %y = skript.formula sum (%o, %i, %c) in (4, 9, 3) outs(%acc = %init : tensor<4x9xf32>) where {
    %two = arith.constant 2 : index
    %none = arith.constant 0 : index
    %rest = skript.mod %i, %two : index
    %evenly = skript.eq %rest, %none : index
    skript.condition %evenly
  } do {
    %two = arith.constant 2 : index
    %q = skript.div %i, %two : index
    %e = skript.access %x[%c, %q] : tensor<3x5xf32>
    %f = skript.access %w[%c, %o] : tensor<3x4xf32>
    %v = skript.mul %e, %f : f32
    skript.yield %v at [%o, %i] : f32
  } : tensor<4x9xf32>
  return %y : tensor<4x9xf32>
}
