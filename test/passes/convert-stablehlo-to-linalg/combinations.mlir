// RUN: skript-opt %s --convert-stablehlo-to-linalg | FileCheck %s

// The body becomes the payload: the accumulator first, then the value.
// CHECK-LABEL: func.func @reduce
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<3x4xf32>)
// CHECK: ^bb0(%[[X:.+]]: f32, %[[A:.+]]: f32):
// CHECK: stablehlo.maximum %[[A]], %[[X]] : f32
func.func @reduce(%x: tensor<3x4xf32>, %z: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// f16 elements are summed in f32.
// CHECK-LABEL: func.func @dot
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: stablehlo.convert %{{.+}} : (bf16) -> f32
// CHECK: arith.addf
// CHECK: stablehlo.convert %{{.+}} : (f32) -> bf16
func.func @dot(%x: tensor<2x3xbf16>, %y: tensor<3x4xbf16>) -> tensor<2x4xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  return %0 : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @control
// CHECK: scf.while
// CHECK: %[[GO:.+]] = tensor.extract %{{.+}}[] : tensor<i1>
// CHECK: scf.condition(%[[GO]])
// CHECK: scf.yield
// CHECK: scf.if
func.func @control(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  %1 = "stablehlo.case"(%0) ({
    stablehlo.return %0 : tensor<i32>
  }, {
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

// Indices of a gather are clamped; a scatter skips out-of-bounds indices.
// CHECK-LABEL: func.func @places
// CHECK: arith.minsi
// CHECK: tensor.extract %arg0
// CHECK: scf.for
// CHECK: arith.cmpi ult
// CHECK: stablehlo.add
// CHECK: arith.select
// CHECK: tensor.insert
func.func @places(%x: tensor<6xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> (tensor<2xf32>, tensor<6xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<2xf32>, tensor<6xf32>
}

// An operator of the library: a sum over roots of unity, which are a table.
// CHECK-LABEL: func.func @transform
// CHECK-NOT: stablehlo.fft
// CHECK: linalg.generic {{.*}}"reduction"]}
// CHECK: stablehlo.complex
func.func @transform(%x: tensor<2x4xf32>) -> tensor<2x3xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<2x4xf32>) -> tensor<2x3xcomplex<f32>>
  return %0 : tensor<2x3xcomplex<f32>>
}

// The counter grows by one for two elements.
// CHECK-LABEL: func.func @random
// CHECK: linalg.generic
// CHECK: linalg.index 0
// CHECK: linalg.yield
// CHECK: %[[STEPS:.+]] = arith.constant 4 : i64
// CHECK: arith.addi %{{.+}}, %[[STEPS]] : i64
// CHECK: tensor.from_elements
func.func @random(%x: tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
  return %0, %1 : tensor<2xui64>, tensor<7xui32>
}
