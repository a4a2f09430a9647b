// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-drop-clamps{if-bounded=true})' --verify-roundtrip | FileCheck %s

// If an extent has no bound, the module does not change.
// CHECK-LABEL: func.func @unstated
// CHECK:         skript.min
func.func @unstated(%x: tensor<?xf32>, %init: tensor<4xf32>) -> tensor<4xf32> attributes {skript.entry} {
  %y = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %c3 = arith.constant 3 : index
    %p = skript.min %i, %c3 : index
    %v = skript.access %x[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
