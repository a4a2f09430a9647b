// RUN: skript-translate %s --split-input-file --to-stablehlo | skript-opt --split-input-file | FileCheck %s
// Windows over what is computed of elements, windows with holes, and indices that are taken apart.

// y[q, i] += (g[p] · x[p, i + j]) · w[q, p, j]: the product of g and x once for each of their elements.
// CHECK-LABEL: func.func public @main(
// CHECK:         %[[SCALED:.+]] = stablehlo.multiply %{{.+}}, %{{.+}} : tensor<2x9xf32>
// CHECK-NOT:     gather
// CHECK:         %[[FLAT:.+]] = stablehlo.reshape %[[SCALED]]
// CHECK:         stablehlo.convolution(%[[FLAT]], %{{.+}})
func.func @scaled(%x: tensor<2x9xf32>, %w: tensor<3x2x3xf32>, %g: tensor<2xf32>) -> tensor<3x7xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<3x7xf32>
  %y = skript.formula sum (%q, %i, %p, %j) in (3, 7, 2, 3) outs(%acc = %init : tensor<3x7xf32>) do {
    %at = skript.add %i, %j : index
    %a = skript.access %g[%p] : tensor<2xf32>
    %b = skript.access %x[%p, %at] : tensor<2x9xf32>
    %c = skript.access %w[%q, %p, %j] : tensor<3x2x3xf32>
    %ab = skript.mul %a, %b : f32
    %abc = skript.mul %ab, %c : f32
    skript.yield %abc at [%q, %i] : f32
  } : tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// -----

// y[i] >= |x[i + j]| where j ≠ 2: two windows, of places 0 and 1, and of 3 and 4.
// CHECK-LABEL: func.func public @main(
// CHECK-NOT:     gather
// CHECK:         %[[LENGTH:.+]] = stablehlo.abs %{{.+}} : tensor<9xf32>
// CHECK:         "stablehlo.reduce_window"
// CHECK:         "stablehlo.reduce_window"
// CHECK:         stablehlo.maximum
func.func @holes(%x: tensor<9xf32>) -> tensor<5xf32> attributes {skript.entry} {
  %none = arith.constant 0xFF800000 : f32
  %init = tensor.splat %none : tensor<5xf32>
  %y = skript.formula max (%i, %j) in (5, 5) outs(%acc = %init : tensor<5xf32>) where {
    %c2 = arith.constant 2 : index
    %other = skript.ne %j, %c2 : index
    skript.condition %other
  } do {
    %at = skript.add %i, %j : index
    %a = skript.access %x[%at] : tensor<9xf32>
    %b = skript.abs %a : f32
    skript.yield %b at [%i] : f32
  } : tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// y[k, i] = x[2·k + i mod 2, i / 2]
// CHECK-LABEL: func.func public @main(
// CHECK-NOT:     gather
// CHECK:         stablehlo.reshape %{{.+}} : (tensor<4x3xf32>) -> tensor<2x2x3xf32>
// CHECK:         stablehlo.transpose
// CHECK-NOT:     gather
// CHECK:         return
func.func @taken_apart(%x: tensor<4x3xf32>) -> tensor<2x6xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<2x6xf32>
  %y = skript.formula assign (%k, %i) in (2, 6) outs(%acc = %init : tensor<2x6xf32>) do {
    %c2 = arith.constant 2 : index
    %first = skript.mul %c2, %k : index
    %odd = skript.mod %i, %c2 : index
    %channel = skript.add %first, %odd : index
    %half = skript.div %i, %c2 : index
    %a = skript.access %x[%channel, %half] : tensor<4x3xf32>
    skript.yield %a at [%k, %i] : f32
  } : tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
