// RUN: skript-opt %s --skript-drop-signs | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[X:.+]]: tensor<4xi8>, %{{.+}}: tensor<4xf32>) -> tensor<4xi8>
// CHECK-NOT: unrealized
// CHECK: %[[Y:.+]] = arith.addi %[[X]], %[[X]] : tensor<4xi8>
// CHECK-NOT: unrealized
// CHECK: return %[[Y]] : tensor<4xi8>
func.func @f(%x: tensor<4xui8>, %y: tensor<4xf32>) -> tensor<4xui8> {
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xui8> to tensor<4xi8>
  %1 = arith.addi %0, %0 : tensor<4xi8>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<4xi8> to tensor<4xui8>
  return %2 : tensor<4xui8>
}
