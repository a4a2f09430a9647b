// RUN: skript-opt %s --skript-to-linalg | FileCheck %s

// A call in a step happens once in each step, whether its result is used never, once or twice.
func.func private @next(f32) -> f32
func.func private @seen(f32)

// CHECK-LABEL: func.func @calls
// CHECK-NOT:     call
// CHECK:         scf.parallel
// CHECK-NOT:     call
// CHECK:           func.call @seen(
// CHECK-NEXT:      %[[NEXT:.+]] = func.call @next(
// CHECK-NOT:     call
// CHECK:         return
func.func @calls(%x: tensor<8xf32>, %init: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y:2 = skript.formula assign (%i) in (8) outs(%a = %init : tensor<8xf32>, %b = %init : tensor<8xf32>) do {
    %v = skript.access %x[%i] : tensor<8xf32>
    func.call @seen(%v) : (f32) -> ()
    %w = func.call @next(%v) : (f32) -> f32
    %twice = skript.add %w, %w : f32
    skript.yield %w at [%i], %twice at [%i] : f32, f32
  } : tensor<8xf32>, tensor<8xf32>
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xf32>
}
