// RUN: skript-opt %s --skript-check-extents | FileCheck %s

// Each dynamic dimension is compared with that of the first tensor, or with the extent in a type.
// CHECK-LABEL: func.func @open
// CHECK-SAME:    %[[A:.+]]: tensor<?x4xf32>, %[[B:.+]]: tensor<?x?xf32>
// CHECK:         %[[FIRST:.+]] = tensor.dim %[[A]], %{{.+}} : tensor<?x4xf32>
// CHECK:         %[[SECOND:.+]] = tensor.dim %[[B]], %{{.+}} : tensor<?x?xf32>
// CHECK:         %[[AGREE:.+]] = arith.cmpi eq, %[[FIRST]], %[[SECOND]] : index
// CHECK:         cf.assert %[[AGREE]], "{{.*}}operands of 'skript.add' differ in dimension 0"
// CHECK:         %[[FOUR:.+]] = arith.constant 4 : index
// CHECK:         %[[OTHER:.+]] = tensor.dim %[[B]], %{{.+}} : tensor<?x?xf32>
// CHECK:         %[[AGREES:.+]] = arith.cmpi eq, %[[FOUR]], %[[OTHER]] : index
// CHECK:         cf.assert %[[AGREES]], "{{.*}}operands of 'skript.add' differ in dimension 1"
// CHECK:         skript.add
func.func @open(%a: tensor<?x4xf32>, %b: tensor<?x?xf32>) -> tensor<?x4xf32> {
  %c = skript.add %a, %b : tensor<?x4xf32>, tensor<?x?xf32> -> tensor<?x4xf32>
  return %c : tensor<?x4xf32>
}

// Ops of other dialects have the trait as well; scalars have no extents, and one tensor agrees with itself.
// CHECK-LABEL: func.func @others
// CHECK:         cf.assert {{.*}} "{{.*}}operands of 'arith.addf' differ in dimension 0"
// CHECK:         arith.addf
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @others(%a: tensor<?xf32>, %b: tensor<?xf32>, %fixed: tensor<4xf32>, %s: f32, %p: i1) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<4xf32>, tensor<?xf32>) {
  %c = arith.addf %a, %b : tensor<?xf32>
  %d = skript.mul %a, %a : tensor<?xf32>
  %e = math.exp %a : tensor<?xf32>
  %f = skript.add %fixed, %fixed : tensor<4xf32>
  %g = arith.select %p, %a, %b : tensor<?xf32>
  return %c, %d, %e, %f, %g : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<4xf32>, tensor<?xf32>
}
