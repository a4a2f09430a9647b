// RUN: skript-opt %s --verify-diagnostics --skript-widen-accumulators | FileCheck %s

// The pass does not refuse anything. Formulas with explicit rounding, with one write per element, or with comparisons only are not changed.
// CHECK-LABEL: func.func @reads
// CHECK:         skript.formula sum {{.*}} : tensor<f16>)
// CHECK-NOT:     skript.cast
func.func @reads(%x: tensor<8xf16>, %init: tensor<f16>) -> tensor<f16> {
  %y = skript.formula sum (%i) in (8) outs(%acc = %init : tensor<f16>) do {
    %e = skript.access %x[%i] : tensor<8xf16>
    %old = skript.access %acc[] : tensor<f16>
    %v = skript.mul %e, %old : f16
    skript.yield %v at [] : f16
  } : tensor<f16>
  return %y : tensor<f16>
}

// CHECK-LABEL: func.func @once
// CHECK:         skript.formula sum {{.*}} : tensor<8x1xbf16>)
// CHECK-NOT:     skript.cast
func.func @once(%x: tensor<8xbf16>, %init: tensor<8x1xbf16>) -> tensor<8x1xbf16> {
  %c0 = arith.constant 0 : index
  %y = skript.formula sum (%i, %u) in (8, 1) outs(%acc = %init : tensor<8x1xbf16>) do {
    %e = skript.access %x[%i] : tensor<8xbf16>
    skript.yield %e at [%i, %c0] : bf16
  } : tensor<8x1xbf16>
  return %y : tensor<8x1xbf16>
}

// CHECK-LABEL: func.func @compares
// CHECK:         skript.formula max {{.*}} : tensor<bf16>)
// CHECK-NOT:     skript.cast
func.func @compares(%x: tensor<8xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
  %y = skript.formula max (%i) in (8) outs(%acc = %init : tensor<bf16>) do {
    %e = skript.access %x[%i] : tensor<8xbf16>
    skript.yield %e at [] : bf16
  } : tensor<bf16>
  return %y : tensor<bf16>
}
