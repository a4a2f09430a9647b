// RUN: skript-opt %s --convert-stablehlo-to-linalg | FileCheck %s
// The pass creates operations of StableHLO, whose dialect a program without them does not load.

// CHECK-LABEL: func.func @half
// CHECK: %[[WIDE:.+]] = stablehlo.convert %{{.+}} : (f16) -> f32
// CHECK: %[[ANGLE:.+]] = math.acos %[[WIDE]] : f32
// CHECK: stablehlo.convert %[[ANGLE]] : (f32) -> f16
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = chlo.acos %x : tensor<4xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
