// RUN: skript-opt %s --convert-skript-formula-to-affine | FileCheck %s --implicit-check-not=linalg --implicit-check-not=scf.

// CHECK-DAG: #[[LOW:.+]] = affine_set<(d0) : (d0 - 2 >= 0)>
// CHECK-DAG: #[[HIGH:.+]] = affine_set<(d0) : (d0 - 7 >= 0)>
// CHECK-DAG: #[[SAME:.+]] = affine_set<(d0, d1) : (d0 - d1 >= 0)>

// A clamped border: the interior and the two ends read places of their own.
// CHECK-LABEL: func.func @clamped
// CHECK:         affine.for %[[I:.+]] = 0 to 10 {
// CHECK:           affine.if #[[LOW]](%[[I]]) -> f32
// CHECK:             affine.if #[[HIGH]](%[[I]]) -> f32
// CHECK:               affine.load %{{.+}}[5] : memref<6xf32>
// CHECK:             } else {
// CHECK:               affine.load %{{.+}}[%[[I]] - 2] : memref<6xf32>
// CHECK:           } else {
// CHECK:             affine.load %{{.+}}[0] : memref<6xf32>
func.func @clamped(%x: tensor<6xf32>, %init: tensor<10xf32>) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %y = skript.formula assign (%i) in (10) outs(%acc = %init : tensor<10xf32>) do {
    %p = skript.sub %i, %c2 : index
    %q = skript.max %p, %c0 : index
    %r = skript.min %q, %c5 : index
    %v = skript.access %x[%r] : tensor<6xf32>
    skript.yield %v at [%i] : f32
  } : tensor<10xf32>
  return %y : tensor<10xf32>
}

// A place that is written by parts.
// CHECK-LABEL: func.func @larger
// CHECK:         affine.if #[[SAME]](%[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT:      affine.store %{{.+}}, %{{.+}}[%[[I]]] : memref<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      affine.store %{{.+}}, %{{.+}}[%[[J]]] : memref<4xf32>
func.func @larger(%x: tensor<4x4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.formula replace (%i, %j) in (4, 4) outs(%acc = %init : tensor<4xf32>) do {
    %p = skript.max %i, %j : index
    %v = skript.access %x[%i, %j] : tensor<4x4xf32>
    skript.yield %v at [%p] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
