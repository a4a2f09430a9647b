// RUN: skript-opt %s --convert-skript-formula-to-scf | FileCheck %s
// RUN: skript-opt %s --convert-skript-formula-to-scf=tensors=true | FileCheck %s
// RUN: skript-opt %s --canonicalize --convert-skript-formula-to-scf | FileCheck %s

// A call may have side effects: each step executes it once, in every point of the domain.
func.func private @bound(index) -> index
func.func private @test(f32) -> f32

// The subscript of a sum.
// CHECK-LABEL: func.func @subscript(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             func.call @bound
// CHECK-NOT:     call
func.func @subscript(%x: tensor<4x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.formula sum (%i, %j) in (4, 4) outs(%acc = %o : tensor<4xf32>) do {
    %v = skript.access %x[%i, %j] : tensor<4x4xf32>
    %b = func.call @bound(%i) : (index) -> index
    skript.yield %v at [%b] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A predicate that bounds the inner loop: all of its points are tested.
// CHECK-LABEL: func.func @range(
// CHECK:         scf.for
// CHECK:           %[[ALL:.+]] = arith.constant 8 : index
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[ALL]]
// CHECK:             func.call @test
// CHECK-NOT:     call
func.func @range(%x: tensor<4x8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
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

// A predicate that always holds, and one that never does.
// CHECK-LABEL: func.func @constant(
// CHECK:         scf.for
// CHECK:           func.call @test
// CHECK:         scf.for
// CHECK:           func.call @test
// CHECK-NOT:     call
func.func @constant(%x: tensor<4xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = arith.constant true
  %false = arith.constant false
  %y = skript.formula sum (%i) in (4) outs(%acc = %o : tensor<4xf32>) where {
    %v = skript.access %x[%i] : tensor<4xf32>
    %w = func.call @test(%v) : (f32) -> f32
    skript.condition %true
  } do {
    %v = skript.access %x[%i] : tensor<4xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  %z = skript.formula sum (%i) in (4) outs(%acc = %o : tensor<4xf32>) where {
    %v = skript.access %x[%i] : tensor<4xf32>
    %w = func.call @test(%v) : (f32) -> f32
    skript.condition %false
  } do {
    %v = skript.access %x[%i] : tensor<4xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
