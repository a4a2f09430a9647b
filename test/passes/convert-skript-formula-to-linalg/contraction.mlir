// RUN: skript-opt %s --convert-skript-formula-to-linalg --canonicalize | FileCheck %s

// CHECK-DAG: #[[A:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[X:.+]] = affine_map<(d0, d1) -> (d0 * 2 + d1)>

// CHECK-LABEL: func.func @matmul
// CHECK:         linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:         ^bb0(%[[L:.+]]: f32, %[[R:.+]]: f32, %[[ACC:.+]]: f32)
// CHECK:           %[[V:.+]] = skript.mul %[[L]], %[[R]] : f32
// CHECK:           %[[S:.+]] = skript.add %[[ACC]], %[[V]] {accumulates} : f32
// CHECK:           linalg.yield %[[S]]
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

// y[i] += x[|2 i + j - 1|] * w[j]: a border of zeros, and skipped points contribute zero whatever w holds.
// CHECK-LABEL: func.func @window
// CHECK-SAME:    %[[IN:.+]]: tensor<8xf32>, %[[W:.+]]: tensor<3xf32>
// CHECK:         %[[BORDER:.+]] = linalg.fill {{.*}} -> tensor<9xf32>
// CHECK:         %[[PADDED:.+]] = tensor.insert_slice %[[IN]] into %[[BORDER]][1] [8] [1]
// CHECK:         linalg.generic {indexing_maps = [#[[X]], {{.*}}ins(%[[PADDED]], %[[W]] : tensor<9xf32>, tensor<3xf32>)
// CHECK:           %[[V:.+]] = skript.mul
// CHECK:           skript.select %{{.*}}, %[[V]], %{{.*}} : f32
func.func @window(%x: tensor<8xf32>, %w: tensor<3xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula sum (%i, %j) in (4, 3) outs(%acc = %init : tensor<4xf32>) where {
    %p = skript.mul %i, %c2 : index
    %q = skript.add %p, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %p = skript.mul %i, %c2 : index
    %q = skript.add %p, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%r] : tensor<8xf32>
    %b = skript.access %w[%j] : tensor<3xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
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
