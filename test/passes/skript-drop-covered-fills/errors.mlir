// RUN: skript-opt %s --verify-diagnostics --skript-drop-covered-fills | FileCheck %s

// The pass does not refuse anything. Data-dependent indices are not analyzed, and their fills are kept.
// CHECK-LABEL: func.func @scattered
// CHECK-NOT:     tensor.empty
func.func @scattered(%a: tensor<4xf32>, %at: tensor<4xi64>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %0 = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %e = skript.access %a[%i] : tensor<4xf32>
    %n = skript.access %at[%i] : tensor<4xi64>
    %p = skript.cast %n : i64 to index
    skript.yield %e at [%p] : f32
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}
