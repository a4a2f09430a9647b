// RUN: skript-opt %s --split-input-file --skript-raise-to-named-linalg | FileCheck %s

// Near misses stay generic.

#x = affine_map<(d0, d1) -> (d0 - d1 + 2)>
#w = affine_map<(d0, d1) -> (d1)>
#y = affine_map<(d0, d1) -> (d0)>

// A true convolution runs through its filter backwards.
// CHECK-LABEL: func.func @backwards
// CHECK:         linalg.generic
func.func @backwards(%x: tensor<6xf32>, %w: tensor<3xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<6xf32>, tensor<3xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#x = affine_map<(d0, d1) -> (d0 * 2 + d1)>
#w = affine_map<(d0, d1) -> (d1)>
#y = affine_map<(d0, d1) -> (d0)>

// `conv_1d` has no strides.
// CHECK-LABEL: func.func @strided
// CHECK:         linalg.generic
func.func @strided(%x: tensor<9xf32>, %w: tensor<3xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// A difference of products, a product of its own factor, and products summed in another type are no matrix products.
// CHECK-LABEL: func.func @almost
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:     linalg.matmul
func.func @almost(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %init: tensor<4x5xf32>, %wide: tensor<4x5xf64>)
    -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf64>) {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf32>, tensor<6x5xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.subf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf32>, tensor<6x5xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %x : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  %2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf32>, tensor<6x5xf32>) outs(%wide : tensor<4x5xf64>) {
  ^bb0(%x: f32, %y: f32, %z: f64):
    %m = arith.mulf %x, %y : f32
    %e = arith.extf %m : f32 to f64
    %s = arith.addf %z, %e : f64
    linalg.yield %s : f64
  } -> tensor<4x5xf64>
  return %0, %1, %2 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf64>
}

// -----

#x = affine_map<(d0, d1) -> (d1, d0)>
#y = affine_map<(d0, d1) -> (d0, d1)>
#diagonal = affine_map<(d0) -> (d0, d0)>
#all = affine_map<(d0) -> (d0)>

// Neither is a diagonal a transpose, nor a sum with its own present element a reduction of something.
// CHECK-LABEL: func.func @diagonal
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic
func.func @diagonal(%x: tensor<4x4xf32>, %v: tensor<4xf32>, %m: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %0 = linalg.generic {indexing_maps = [#diagonal, #all], iterator_types = ["parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%m : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4x4xf32>
}
