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

// -----

// Nothing is read or written of tensors without elements; placeholders keep their places.
// CHECK-LABEL: func.func @empty
// CHECK-SAME:    %{{.+}}: tensor<1xi8>
// CHECK-SAME:    %{{.+}}: memref<1xi8>
// CHECK-SAME:    %[[B:[^:]+]]: memref<2xindex>
// CHECK:         %[[E:.+]] = tensor.empty() : tensor<3x0xf32>
// CHECK:         %[[S:.+]] = shape.shape_of %[[E]]
// CHECK-NOT:     tensor<3x0xf32> in restrict
// CHECK:         bufferization.materialize_in_destination %[[S]] in restrict writable %[[B]]
func.func @empty(%x: tensor<3x0xf32> {bufferization.writable = false}) -> (tensor<3x0xf32>, tensor<2xindex>)
    attributes {skript.entry} {
  %0 = shape.shape_of %x : tensor<3x0xf32> -> tensor<2xindex>
  return %x, %0 : tensor<3x0xf32>, tensor<2xindex>
}
