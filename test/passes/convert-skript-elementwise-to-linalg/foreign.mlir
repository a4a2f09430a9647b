// RUN: skript-opt %s --convert-skript-elementwise-to-linalg | FileCheck %s

// Operations that no pass names: the trait is all they share with others. Element types that differ, a scalar among
// tensors, an attribute, two results.

// CHECK-LABEL: func.func @foreign
// CHECK-SAME:    %[[X:.+]]: tensor<4x?xf32>, %[[Y:.+]]: tensor<4x?xi32>, %[[S:.+]]: f32
func.func @foreign(%x: tensor<4x?xf32>, %y: tensor<4x?xi32>, %s: f32)
    -> (tensor<4x?xf64>, tensor<4x?xi8>, tensor<4x?xi16>) {
  // CHECK: linalg.generic {{.*}} ins(%[[X]], %[[Y]] : tensor<4x?xf32>, tensor<4x?xi32>)
  // CHECK: ^bb0(%[[A:.+]]: f32, %[[B:.+]]: i32, %{{.+}}: f64):
  // CHECK: skript_test.blend %[[A]], %[[B]] : f32, i32 -> f64
  %0 = skript_test.blend %x, %y : tensor<4x?xf32>, tensor<4x?xi32> -> tensor<4x?xf64>
  // CHECK: skript_test.blend %{{.+}}, %[[S]] : f32, f32 -> f32
  %1 = skript_test.blend %x, %s : tensor<4x?xf32>, f32 -> tensor<4x?xf32>
  // CHECK: skript_test.split %{{.+}} at 7 : f32 -> i8, i16
  %2:2 = skript_test.split %1 at 7 : tensor<4x?xf32> -> tensor<4x?xi8>, tensor<4x?xi16>
  return %0, %2#0, %2#1 : tensor<4x?xf64>, tensor<4x?xi8>, tensor<4x?xi16>
}
