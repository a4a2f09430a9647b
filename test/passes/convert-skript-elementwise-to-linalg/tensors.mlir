// RUN: skript-opt %s --convert-skript-elementwise-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-SAME:    %[[X:.+]]: tensor<4x?xf32>, %[[Y:.+]]: tensor<4x?xf32>
// CHECK:         %[[N:.+]] = tensor.dim %[[X]]
// CHECK:         %[[INIT:.+]] = tensor.empty(%[[N]]) : tensor<4x?xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK-SAME:      ins(%[[X]], %[[Y]] : tensor<4x?xf32>, tensor<4x?xf32>) outs(%[[INIT]] : tensor<4x?xf32>)
// CHECK:           skript.add %{{.*}}, %{{.*}} : f32
func.func @sum(%x: tensor<4x?xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = skript.add %x, %y : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// A scalar among tensors is captured, and the result may have another element type.
// CHECK-LABEL: func.func @above
// CHECK-SAME:    %[[X:.+]]: tensor<8xf32>, %[[S:.+]]: f32
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<8xf32>) outs(%{{.*}} : tensor<8xi1>)
// CHECK:           skript.gt %{{.*}}, %[[S]] : f32
func.func @above(%x: tensor<8xf32>, %s: f32) -> tensor<8xi1> {
  %0 = skript.gt %x, %s : tensor<8xf32>, f32
  return %0 : tensor<8xi1>
}

// Ops of other dialects have the trait too.
// CHECK-LABEL: func.func @upstream
// CHECK:         linalg.generic
// CHECK:           math.exp %{{.*}} : f32
// CHECK:         linalg.generic
// CHECK:           arith.mulf %{{.*}} : f32
// CHECK-NOT:     arith.mulf %{{.*}} : tensor
func.func @upstream(%x: tensor<f32>) -> tensor<f32> {
  %0 = math.exp %x : tensor<f32>
  %1 = arith.mulf %0, %0 : tensor<f32>
  return %1 : tensor<f32>
}
