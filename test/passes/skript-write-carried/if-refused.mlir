// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-write-carried{apart=if-refused})' | FileCheck %s

// What bufferization takes as it is gets no copies.
// CHECK-LABEL: func.func @steps
// CHECK:         scf.for
// CHECK-NOT:     alloc_tensor
func.func @steps(%a: tensor<4xf32> {bufferization.writable = false}, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4xf32>) {
    %y = tensor.insert %half into %x[%c0] : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
