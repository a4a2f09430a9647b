// RUN: skript-opt %s --convert-skript-formula-to-affine | FileCheck %s

// A predicate with side effects is evaluated at every point of the domain, also if it is affine.
// CHECK-LABEL: func.func @guarded(
// CHECK:         affine.for %{{.*}} = 0 to 4
// CHECK:           affine.for %{{.*}} = 0 to 8
// CHECK:             func.call @test
// CHECK:             scf.if
// CHECK-NOT:     call
func.func private @test(f32) -> f32
func.func @guarded(%x: tensor<4x8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.formula sum (%i, %j) in (4, 8) outs(%acc = %o : tensor<4xf32>) where {
    %c = skript.le %j, %i : index
    %v = skript.access %x[%i, %j] : tensor<4x8xf32>
    %w = func.call @test(%v) : (f32) -> f32
    skript.condition %c
  } do {
    %v = skript.access %x[%i, %j] : tensor<4x8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
