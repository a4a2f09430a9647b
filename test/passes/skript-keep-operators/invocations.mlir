// RUN: skript-opt %s --skript-keep-operators=operators=mine.twice --inline --symbol-dce | FileCheck %s
// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-keep-operators{operators=mine.twice},skript-to-linalg)" | FileCheck %s --check-prefix=LINALG
// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-keep-operators{operators=mine.twice},skript-to-linalg,skript-bufferize)" | FileCheck %s --check-prefix=BUFFERS

// Operators that a kept operator invokes are inlined into it.
// CHECK-LABEL: func.func private @twice_0
// CHECK-NOT:     skript.invoke
// CHECK:         skript.add
// LINALG-LABEL: func.func private @twice_0
// LINALG:         linalg.generic
func.func private @twice_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.invoke @sum_0(%x, %x) operator "mine.sum" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-NOT: @sum_0
func.func private @sum_0(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @model
// CHECK:         %[[S:.+]] = skript.add
// CHECK:         skript.invoke @twice_0(%[[S]]) operator "mine.twice" {factor = 2 : i64} attributes {skript.keep}
// LINALG-LABEL: func.func @model
// LINALG:         skript.invoke @twice_0
// BUFFERS-LABEL: func.func @model
// BUFFERS:         %[[S:.+]] = memref.alloc
// BUFFERS:         %[[R:.+]] = skript.invoke @twice_0(%[[S]]) operator "mine.twice" {factor = 2 : i64} attributes {skript.keep} : (memref<4xf32>) -> memref<4xf32>
// BUFFERS:         return %[[R]] : memref<4xf32>
func.func @model(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.invoke @sum_0(%x, %x) operator "mine.sum" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = skript.invoke @twice_0(%0) operator "mine.twice" {factor = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// An invocation with the name of the invoking operator is a part of it.
// CHECK-LABEL: func.func private @twice_1
// CHECK-NOT:     skript.invoke
// CHECK:         skript.mul
func.func private @twice_1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.invoke @twice_2(%x, %x) operator "mine.twice" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-NOT: @twice_2
func.func private @twice_2(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.mul %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @parts
// CHECK-NEXT:    skript.invoke @twice_1(%{{.+}}) operator "mine.twice" attributes {skript.keep}
func.func @parts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.invoke @twice_1(%x) operator "mine.twice" : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
