// RUN: skript-opt %s --skript-split-guards=interior=50 --canonicalize | FileCheck %s

// The guard is needed at the first point only.
// CHECK-LABEL: func.func @difference
// CHECK:         skript.formula sum (%{{.+}}, %{{.+}}) in (1, 2) outs({{.*}}) where {
// CHECK:         tensor.insert_slice
// CHECK:         skript.formula sum (%{{.+}}, %{{.+}}) in (7, 2) outs({{.*}}) do {
// CHECK:         tensor.insert_slice
func.func @difference(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %y = skript.formula sum (%i, %j) in (8, 2) outs(%acc = %init : tensor<8xf32>) where {
    %r = skript.sub %i, %j : index
    %in = skript.ge %r, %c0 : index
    skript.condition %in
  } do {
    %r = skript.sub %i, %j : index
    %a = skript.access %x[%r] : tensor<8xf32>
    skript.yield %a at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
