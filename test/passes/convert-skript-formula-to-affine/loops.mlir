// RUN: skript-opt %s --convert-skript-formula-to-affine | FileCheck %s --implicit-check-not=linalg

// CHECK-DAG: #[[WITHIN:.+]] = affine_set<(d0, d1) : (-d0 - d1 + 8 >= 0, d0 + d1 - 1 >= 0)>

// CHECK-LABEL: func.func @window
// CHECK:         affine.for %[[K:.+]] = 0 to 8 {
// CHECK:           affine.store %{{.*}}, %[[Y:.+]][%[[K]]] : memref<8xf32>
// CHECK:         affine.for %[[I:.+]] = 0 to 8 {
// CHECK:           affine.load %[[Y]][%[[I]]] : memref<8xf32>
// CHECK:           affine.for %[[J:.+]] = 0 to 3 iter_args
// CHECK:             affine.if #[[WITHIN]](%[[I]], %[[J]]) -> f32
// CHECK:               affine.load %{{.*}}[%[[I]] + %[[J]] - 1] : memref<8xf32>
// CHECK:           affine.store %{{.*}}, %[[Y]][%[[I]]] : memref<8xf32>
func.func @window(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<8xf32>
  %y = skript.formula sum (%i, %j) in (8, 3) outs(%acc = %init : tensor<8xf32>) where {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %lo = skript.ge %q, %c0 : index
    %hi = skript.lt %q, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %p = skript.add %i, %j : index
    %q = skript.sub %p, %c1 : index
    %v = skript.access %x[%q] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
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

// -----

// Out-of-bounds elements are not loaded, so the element is not carried.
// CHECK-LABEL: func.func @guarded
// CHECK:         affine.for %[[I:.+]] = 0 to 16
// CHECK-NEXT:      affine.for %{{.+}} = 0 to 3
// CHECK-NEXT:        affine.if
// CHECK:               affine.load %{{.+}}[%[[I]]] : memref<4xf32>
// CHECK:         return
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
