// RUN: skript-opt %s --convert-skript-formula-to-scf | FileCheck %s --implicit-check-not=linalg

// Trailing loops that only reduce carry the element.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    %[[A:.+]]: tensor<4x16xf32>, %[[B:.+]]: tensor<16x8xf32>
// CHECK:         bufferization.to_buffer %[[A]] read_only {{.*}}: tensor<4x16xf32> to memref<4x16xf32>
// CHECK:         %[[C:.+]] = memref.alloc() : memref<4x8xf32>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[C]][
// CHECK:         scf.for %[[I:.+]] =
// CHECK:           scf.for %[[J:.+]] =
// CHECK:             %[[OLD:.+]] = memref.load %[[C]][%[[I]], %[[J]]]
// CHECK:             %[[NEW:.+]] = scf.for {{.*}} iter_args(%[[S:.+]] = %[[OLD]]) -> (f32)
// CHECK:               %[[V:.+]] = skript.mul
// CHECK:               %[[T:.+]] = skript.add %[[S]], %[[V]] {accumulates} : f32
// CHECK:               scf.yield %[[T]]
// CHECK:             memref.store %[[NEW]], %[[C]][%[[I]], %[[J]]]
// CHECK:         bufferization.to_tensor %[[C]] restrict writable
func.func @matmul(%A: tensor<4x16xf32>, %B: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4x8xf32>
  %c = skript.formula sum (%i, %j, %l) in (4, 8, 16) outs(%acc = %init : tensor<4x8xf32>) do {
    %a = skript.access %A[%i, %l] : tensor<4x16xf32>
    %b = skript.access %B[%l, %j] : tensor<16x8xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// A running sum reads what the step before wrote; values are computed before any is written.
// CHECK-LABEL: func.func @running
// CHECK:         memref.copy
// CHECK:         scf.for %[[I:.+]] =
// CHECK:           scf.if
// CHECK:             %[[P:.+]] = memref.load %[[Y:.+]][%{{.*}}]
// CHECK:             memref.store %{{.*}}, %[[Y]][%[[I]]]
func.func @running(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = skript.formula replace (%i) in (8) outs(%acc = %x : tensor<8xf32>) where {
    %ok = skript.gt %i, %c0 : index
    skript.condition %ok
  } do {
    %p = skript.sub %i, %c1 : index
    %a = skript.access %acc[%p] : tensor<8xf32>
    %b = skript.access %x[%i] : tensor<8xf32>
    %v = skript.add %a, %b : f32
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// A tensor that holds one value everywhere and is used as such: bufferization would fill it by linalg.
// CHECK-LABEL: func.func @filled
// CHECK:         %[[B:.+]] = memref.alloc() : memref<4xf32>
// CHECK:         scf.for %[[I:.+]] =
// CHECK:           memref.store %{{.*}}, %[[B]][%[[I]]]
// CHECK:         %[[T:.+]] = bufferization.to_tensor %[[B]]
// CHECK:         return %[[T]]
func.func @filled(%v: f32) -> tensor<4xf32> {
  %t = tensor.splat %v : tensor<4xf32>
  return %t : tensor<4xf32>
}

// An element that is read outside of formulas, at a dynamic index.
// CHECK-LABEL: func.func @element
// CHECK-SAME:    %[[X:.+]]: tensor<4x?xf32>, %[[I:.+]]: index
// CHECK:         %[[TWO:.+]] = arith.constant 2 : index
// CHECK:         %[[E:.+]] = tensor.extract %[[X]][%[[TWO]], %[[I]]] : tensor<4x?xf32>
// CHECK:         return %[[E]]
func.func @element(%x: tensor<4x?xf32>, %i: index) -> f32 {
  %c2 = arith.constant 2 : index
  %a = skript.access %x[%c2, %i] : tensor<4x?xf32>
  return %a : f32
}
