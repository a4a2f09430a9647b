// RUN: skript-opt %s --skript-keep-operators=operators=mine.step | FileCheck %s

// An external function has no attribute, because MLIR does not allow it.
// CHECK: func.func private @step(tensor<4xf32>) -> tensor<4xf32>
func.func private @step(tensor<4xf32>) -> tensor<4xf32>

// CHECK: skript.invoke @step(%{{.*}}) operator "mine.step" attributes {skript.keep}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.invoke @step(%x) operator "mine.step" : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
