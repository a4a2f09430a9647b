// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-keep-operators{operators=mine.step},skript-to-linalg,skript-bufferize)" | FileCheck %s
// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-keep-operators{operators=mine.step},skript-to-scf,skript-bufferize)" | FileCheck %s
// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-keep-operators{operators=mine.step},skript-to-affine,skript-bufferize)" | FileCheck %s

// A loop carries the state of an operator that is kept: what the operator makes anew goes back to the state's place, and its
// other result, which is an argument, is looked at only.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<2xf32>
// CHECK:         %[[STATE:.+]] = memref.alloc() {{.*}}: memref<2xf32>
// CHECK:         memref.copy %[[X]], %[[STATE]]
// CHECK:         scf.for
// CHECK:           %[[R:.+]]:2 = skript.invoke @step_0(%[[X]], %[[STATE]]) operator "mine.step" attributes {skript.keep}
// CHECK-SAME:        (memref<2xf32>, memref<2xf32>) -> (memref<2xf32>, memref<2xf32>)
// CHECK:           memref.copy %[[R]]#1, %[[STATE]]
// CHECK:         return %[[STATE]]
func.func @main(%x: tensor<2xf32> {bufferization.writable = false}, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2xf32> {
    %0:2 = skript.invoke @step_0(%x, %s) operator "mine.step" : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    scf.yield %0#1 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

func.func private @step_0(%x: tensor<2xf32>, %v: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %n = skript.add %x, %v : tensor<2xf32>
  return %v, %n : tensor<2xf32>, tensor<2xf32>
}
