// RUN: skript-reduce %s --leave-out="test=%S/interesting.sh" | FileCheck %s

// Functions that do not matter go; what shows the defect stays.
// CHECK-NOT: @unrelated
func.func @unrelated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func.func @defect
// CHECK:   skript.tanh
func.func @defect(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
