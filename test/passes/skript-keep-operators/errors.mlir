// RUN: skript-opt %s --verify-diagnostics --skript-keep-operators=operators=mine.sum,mine.other

// expected-error @below {{invokes no operator `mine.other` that could be kept}}
module {
  func.func private @sum_0(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @model(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = skript.invoke @sum_0(%x) operator "mine.sum" : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
