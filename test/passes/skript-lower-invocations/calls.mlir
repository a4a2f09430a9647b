// RUN: skript-opt %s --skript-lower-invocations | FileCheck %s

// Kept operators, external functions, and invocations in a step of a formula.
// CHECK-LABEL: func.func @model
// CHECK-NOT:     skript.invoke
// CHECK:         call @nothing_0() : () -> ()
// CHECK:         %[[S:.+]] = call @scale_0(%{{.+}}, %{{.+}}) : (tensor<4xf32>, f32) -> tensor<4xf32>
// CHECK:         skript.formula assign
// CHECK:           %[[V:.+]] = func.call @half_0(%{{.+}}) : (f32) -> f32
// CHECK:           skript.yield %[[V]]
// CHECK-NOT:     skript.invoke
func.func @model(%x: tensor<4xf32>, %k: f32) -> tensor<4xf32> {
  skript.invoke @nothing_0() operator "mine.nothing" : () -> ()
  %0 = skript.invoke @scale_0(%x, %k) operator "mine.scale" {factor = 2} attributes {skript.keep}
      : (tensor<4xf32>, f32) -> tensor<4xf32>
  %1 = skript.formula assign (%i) in (4) outs(%acc = %x : tensor<4xf32>) do {
    %a = skript.access %0[%i] : tensor<4xf32>
    %v = skript.invoke @half_0(%a) operator "mine.half" : (f32) -> f32
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK: func.func private @scale_0(tensor<4xf32>, f32) -> tensor<4xf32>
func.func private @scale_0(tensor<4xf32>, f32) -> tensor<4xf32>
func.func private @half_0(%x: f32) -> f32 {
  %0 = skript.add %x, %x : f32
  return %0 : f32
}
func.func private @nothing_0()
