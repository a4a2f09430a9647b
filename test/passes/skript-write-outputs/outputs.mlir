// RUN: skript-opt %s --split-input-file --skript-write-outputs | FileCheck %s

// CHECK-LABEL: func.func @two
// CHECK-SAME:    %[[X:[^:]+]]: tensor<4xf32>
// CHECK-SAME:    %[[A:[^:]+]]: memref<4xf32> {llvm.noalias}
// CHECK-SAME:    %[[B:[^:]+]]: memref<4xf32> {llvm.noalias}
// CHECK-NOT:     ->
// CHECK:         bufferization.materialize_in_destination %[[X]] in restrict writable %[[A]]
// CHECK:         bufferization.materialize_in_destination %[[X]] in restrict writable %[[B]]
// CHECK:         return{{$}}
func.func @two(%x: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf32> {skript.name = "a"}, tensor<4xf32>)
    attributes {skript.entry} {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
