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

// A result with dynamic extents gets a slot for its upper bound, and an argument for its extents.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x3xf32>
// CHECK-SAME:    %[[SLOT:[^:]+]]: memref<96xi8> {llvm.noalias}
// CHECK-SAME:    %{{[^:]+}}: memref<2xi64> {skript.extents = 0 : i64}
// CHECK-SAME:    %[[EXTENTS:[^:]+]]: memref<2xi64> {llvm.noalias, skript.result_extents}
// CHECK:         %[[ROWS:.+]] = tensor.dim %[[X]]
// CHECK:         memref.store %{{.+}}, %[[EXTENTS]]
// CHECK:         memref.store %{{.+}}, %[[EXTENTS]]
// CHECK:         %[[VIEW:.+]] = memref.view %[[SLOT]][%{{.+}}][%[[ROWS]]] : memref<96xi8> to memref<?x3xf32>
// CHECK:         bufferization.materialize_in_destination %[[X]] in restrict writable %[[VIEW]]
func.func @dynamic(%x: tensor<?x3xf32> {bufferization.writable = false, skript.bounds = array<i64: 8, 3>})
    -> (tensor<?x3xf32> {skript.bounds = array<i64: 8, 3>}) attributes {skript.entry} {
  return %x : tensor<?x3xf32>
}

// -----

// What a branch hands on may be another result as well: it is not made in the place of the branch's result, which is written first.
// CHECK-LABEL: func.func @both
// CHECK:         %[[A:.+]] = bufferization.alloc_tensor() : tensor<4xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[A]]
func.func @both(%x: tensor<4xf32>, %z: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) attributes {skript.entry} {
  %e = tensor.empty() : tensor<4xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %in : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %b = scf.if %c -> (tensor<4xf32>) {
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %m : tensor<4xf32>
  }
  return %b, %m : tensor<4xf32>, tensor<4xf32>
}

// -----

// Loops fill the memory of the caller, if the buffer was allocated for the result.
// CHECK-LABEL: func.func @filled
// CHECK-SAME:    %[[A:[^:]+]]: memref<4xf32> {llvm.noalias}
// CHECK-NOT:     memref.alloc
// CHECK:         memref.store %{{.+}}, %[[A]][%{{.+}}]
// CHECK:         %[[T:.+]] = bufferization.to_tensor %[[A]] restrict writable
// CHECK:         bufferization.materialize_in_destination %[[T]] in restrict writable %[[A]]
func.func @filled(%x: f32) -> tensor<4xf32> attributes {skript.entry} {
  %zero = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  memref.store %x, %a[%zero] : memref<4xf32>
  %t = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

// A result that another tensor is with other extents is that tensor in the argument with its extents.
// CHECK-LABEL: func.func @reshaped
// CHECK-SAME:    %[[X:[^:]+]]: tensor<2x3x4xf32>, %[[Y:[^:]+]]: memref<6x2x2xf32> {llvm.noalias}
// CHECK-NEXT:    %[[FLAT:.+]] = memref.collapse_shape %[[Y]] {{\[}}[0], [1, 2]] : memref<6x2x2xf32> into memref<6x4xf32>
// CHECK-NEXT:    %[[PLACE:.+]] = memref.expand_shape %[[FLAT]] {{\[}}[0, 1], [2]] output_shape [2, 3, 4] : memref<6x4xf32> into memref<2x3x4xf32>
// CHECK-NEXT:    %[[OWN:.+]] = math.exp %[[X]]
// CHECK:         bufferization.materialize_in_destination %[[OWN]] in restrict writable %[[PLACE]]
func.func @reshaped(%x: tensor<2x3x4xf32>) -> tensor<6x2x2xf32> attributes {skript.entry} {
  %own = math.exp %x : tensor<2x3x4xf32>
  %flat = tensor.collapse_shape %own [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %y = tensor.expand_shape %flat [[0], [1, 2]] output_shape [6, 2, 2] : tensor<6x4xf32> into tensor<6x2x2xf32>
  return %y : tensor<6x2x2xf32>
}

// -----

// The second result is a state of the first one: it is copied before it is overwritten, as the argument of the first result is written
// before the second result is read.
// CHECK-LABEL: func.func @state
// CHECK:         %[[E:.+]] = tensor.empty
// CHECK:         %[[M:.+]] = linalg.generic {{.*}} outs(%[[E]]
// CHECK:         %[[COPY:.+]] = bufferization.alloc_tensor() copy(%[[M]])
// CHECK:         linalg.generic {{.*}} ins(%[[M]] {{.*}} outs(%[[COPY]]
func.func @state(%x: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf32>, tensor<2x2xf32>) attributes {skript.entry} {
  %e = tensor.empty() : tensor<4xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %in : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%m : tensor<4xf32>) outs(%m : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %view = tensor.expand_shape %m [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %r, %view : tensor<4xf32>, tensor<2x2xf32>
}

// -----

// Both results are the same chain: nothing is copied.
// CHECK-LABEL: func.func @chain
// CHECK-NOT:     bufferization.alloc_tensor
// CHECK:         return
func.func @chain(%x: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf32>, tensor<4xf32>) attributes {skript.entry} {
  %e = tensor.empty() : tensor<4xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %in : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%m : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r, %r : tensor<4xf32>, tensor<4xf32>
}
