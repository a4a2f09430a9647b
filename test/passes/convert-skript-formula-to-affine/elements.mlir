// RUN: skript-opt %s --convert-skript-formula-to-affine | FileCheck %s

// An element that is read outside of formulas, at an index that only a run knows.
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
