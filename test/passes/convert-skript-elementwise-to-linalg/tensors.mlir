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

// One op for floats and ints; its element type selects the lowering.
// CHECK-LABEL: func.func @rfc_17
// CHECK:         linalg.generic
// CHECK:           skript.add %{{.*}}, %{{.*}} : f32
// CHECK:         linalg.generic
// CHECK:           skript.add %{{.*}}, %{{.*}} : i64
func.func @rfc_17(%x: tensor<4xf32>, %n: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %0 = skript.add %x, %x : tensor<4xf32>
  %1 = skript.add %n, %n : tensor<4xi64>
  return %0, %1 : tensor<4xf32>, tensor<4xi64>
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

// Operations of other dialects also have the trait.
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

// A choice between tensors that may differ in their extents is no computation on elements; between equal shapes it is.

// CHECK-LABEL: func.func @choose
// CHECK-SAME:    %[[C:.+]]: i1, %[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<?xf32>
// CHECK:         %[[R:.+]] = arith.select %[[C]], %[[X]], %[[Y]] : tensor<?xf32>
// CHECK:         linalg.generic
// CHECK:           arith.select %[[C]], %{{.*}}, %{{.*}} : f32
// CHECK:         return %[[R]]
func.func @choose(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>, %v: tensor<3xf32>, %w: tensor<3xf32>)
    -> (tensor<?xf32>, tensor<3xf32>) {
  %0 = arith.select %c, %x, %y : tensor<?xf32>
  %1 = arith.select %c, %v, %w : tensor<3xf32>
  return %0, %1 : tensor<?xf32>, tensor<3xf32>
}
