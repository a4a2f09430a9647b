// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf | FileCheck %s

// Out-of-bounds points are skipped, and nothing is loaded.
// CHECK-LABEL: func.func @guarded
// CHECK:         %[[OUT:.+]] = memref.alloc() : memref<4xf32>
// CHECK:         %[[END:.+]] = skript.min %c16, %{{.+}} : index
// CHECK:         scf.for %[[I:.+]] = %{{.+}} to %[[END]]
// CHECK:           %[[LOW:.+]] = skript.ge %[[I]], %c0
// CHECK:           %[[HIGH:.+]] = skript.lt %[[I]], %{{.+}} : index
// CHECK:           %[[INSIDE:.+]] = skript.and %[[LOW]], %[[HIGH]] : i1
// CHECK:           scf.if %[[INSIDE]] {
// CHECK:             memref.load %[[OUT]][%[[I]]]
// CHECK:             scf.for {{.*}} iter_args
// CHECK:             memref.store %{{.+}}, %[[OUT]][%[[I]]]
func.func @guarded(%b: tensor<3xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula sum (%i, %p) in (16, 3) outs(%acc = %init : tensor<4xf32>) where {
    %four = arith.constant 4 : index
    %ok = skript.lt %i, %four : index
    skript.condition %ok
  } do {
    %v = skript.access %b[%p] : tensor<3xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A sum of nothing writes nothing, however far the other loop goes.
// CHECK-LABEL: func.func @empty
// CHECK-SAME:    (%{{.+}}: tensor<?xf32>, %[[M:.+]]: index
// CHECK:         scf.for %[[I:.+]] = %{{.+}} to %[[M]]
// CHECK:           memref.dim
// CHECK:           scf.if
// CHECK:             memref.load
func.func @empty(%b: tensor<?xf32>, %m: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %k = tensor.dim %b, %c0 : tensor<?xf32>
  %y = skript.formula sum (%i, %p) in (%m, %k) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %b[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A loop to the extent of what it writes needs no condition.
// CHECK-LABEL: func.func @inside
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @inside(%b: tensor<?xf32>, %m: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %k = tensor.dim %b, %c0 : tensor<?xf32>
  %init = tensor.splat %zero[%m] : tensor<?xf32>
  %y = skript.formula sum (%i, %p) in (%m, %k) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %b[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A place that divides by what may be zero is not computed for nothing.
// CHECK-LABEL: func.func @divided
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.if
// CHECK:               skript.div
// CHECK:               memref.load
// CHECK:         return
func.func @divided(%b: tensor<?xf32>, %d: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %k = tensor.dim %b, %c0 : tensor<?xf32>
  %init = tensor.splat %zero : tensor<8xf32>
  %y = skript.formula sum (%i, %p) in (8, %k) outs(%acc = %init : tensor<8xf32>) where {
    %zero_2 = arith.constant 0 : index
    %ok = skript.gt %d, %zero_2 : index
    skript.condition %ok
  } do {
    %v = skript.access %b[%p] : tensor<?xf32>
    %q = skript.div %i, %d : index
    skript.yield %v at [%q] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
