// RUN: skript-opt %s --convert-skript-formula-to-scf --cse | FileCheck %s

// Each formula has a buffer of its own of what it reads: what lies between them may write over the tensor after its last use.
// CHECK-LABEL: func.func @twice
// CHECK-SAME:    %[[X:.+]]: tensor<8xf32>
// CHECK:         %[[A:.+]] = bufferization.to_buffer %[[X]] read_only
// CHECK:         memref.copy %[[A]]
// CHECK:         %[[B:.+]] = bufferization.to_buffer %[[X]] read_only
// CHECK:         memref.copy %[[B]]
func.func @twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = skript.formula sum (%i) in (8) outs(%acc = %x : tensor<8xf32>) do {
    %v = skript.access %acc[%i] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  %z = skript.formula product (%i) in (8) outs(%acc = %x : tensor<8xf32>) do {
    %v = skript.access %acc[%i] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}
