// RUN: skript-opt %s --split-input-file --skript-raise-to-named-linalg | FileCheck %s

// Windows and products that are named operations only after changes of their operands, and near misses, which stay generic.

#x = affine_map<(d0, d1) -> (d0 - d1 + 2)>
#w = affine_map<(d0, d1) -> (d1)>
#y = affine_map<(d0, d1) -> (d0)>

// A true convolution runs through its filter backwards: the filter is turned around, not the input.
// CHECK-DAG:   #[[BACK:.+]] = affine_map<(d0) -> (-d0 + 2)>
// CHECK-LABEL: func.func @backwards
// CHECK-SAME:    %[[X:.+]]: tensor<6xf32>, %[[W:.+]]: tensor<3xf32>, %[[INIT:.+]]: tensor<4xf32>
// CHECK:         %[[TURNED:.+]] = linalg.generic {indexing_maps = [#[[BACK]], {{.*}}ins(%[[W]] :
// CHECK:         linalg.conv_1d ins(%[[X]], %[[TURNED]] : tensor<6xf32>, tensor<3xf32>) outs(%[[INIT]] :
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

// `conv_1d` has no strides; named operations with strides have more dimensions.
// CHECK-LABEL: func.func @strided
// CHECK:         linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}
// CHECK-SAME:      tensor<1x9x1xf32>, tensor<3x1xf32>) outs({{.*}} : tensor<1x4x1xf32>)
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

// Products that are taken away have a negated factor, the smaller one. A product of its own factor, and products summed in
// another type, are no matrix products.
// CHECK-LABEL: func.func @almost
// CHECK-SAME:    %[[A:.+]]: tensor<4x6xf32>, %[[B:.+]]: tensor<6x5xf32>
// CHECK:         %[[NEGATED:.+]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4x6xf32>)
// CHECK:           arith.negf
// CHECK:         linalg.matmul ins(%[[NEGATED]], %[[B]] :
// CHECK-COUNT-2: linalg.generic
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

// A diagonal is not a transpose, and a sum with the current output element is not a reduction.
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

// -----

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>

// Elements of narrow types are widened by the operation itself; what else becomes of an element is computed before, once for
// each. Reals are not multiplied in another order.
// CHECK-LABEL: func.func @factors
// CHECK-SAME:    %[[A:.+]]: tensor<4x6xf16>, %[[B:.+]]: tensor<6x5xf32>
// CHECK:         %[[HALVES:.+]] = linalg.generic {{.*}} ins(%[[B]] : tensor<6x5xf32>)
// CHECK:           arith.mulf
// CHECK:         linalg.matmul ins(%[[A]], %[[HALVES]] : tensor<4x6xf16>, tensor<6x5xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
func.func @factors(%a: tensor<4x6xf16>, %b: tensor<6x5xf32>, %init: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %half = arith.constant 5.0e-01 : f32
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf16>, tensor<6x5xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%x: f16, %y: f32, %z: f32):
    %e = arith.extf %x : f16 to f32
    %h = arith.mulf %y, %half : f32
    %m = arith.mulf %e, %h : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x6xf16>, tensor<6x5xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%x: f16, %y: f32, %z: f32):
    %e = arith.extf %x : f16 to f32
    %m = arith.mulf %e, %y : f32
    %h = arith.mulf %m, %half : f32
    %s = arith.addf %z, %h : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<4x5xf32>
}

// -----

#x = affine_map<(d0, d1) -> (d0)>
#shape = affine_map<(d0, d1) -> (d1)>
#y = affine_map<(d0, d1) -> ()>

// Integers multiply in any order; a loop that reads nothing still multiplies: no reduction of the input alone.
// CHECK-LABEL: func.func @whole
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:           arith.muli
// CHECK:           arith.subi
// CHECK:         linalg.dot
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "reduction"]
func.func @whole(%a: tensor<4xi64>, %b: tensor<4xi64>, %init: tensor<i64>, %p: tensor<2xf32>, %q: tensor<f32>) -> (tensor<i64>, tensor<f32>) {
  %zero = arith.constant 0 : i64
  %three = arith.constant 3 : i64
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%a, %b : tensor<4xi64>, tensor<4xi64>) outs(%init : tensor<i64>) {
  ^bb0(%x: i64, %y: i64, %z: i64):
    %m = arith.muli %x, %y : i64
    %t = arith.muli %m, %three : i64
    %n = arith.subi %zero, %t : i64
    %s = arith.addi %z, %n : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  %shape = tensor.empty() : tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#x, #shape, #y], iterator_types = ["reduction", "reduction"]}
      ins(%p, %shape : tensor<2xf32>, tensor<3xf32>) outs(%q : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.mulf %z, %x : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0, %1 : tensor<i64>, tensor<f32>
}

// -----

#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 + d4, d3)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d1, d0, d2, d3)>

// Layouts that linalg has no operation for are transposed to one that it has.
// CHECK-LABEL: func.func @layouts
// CHECK:         linalg.transpose
// CHECK:         linalg.pooling_{{n.*}}_min
// CHECK:         linalg.reduce {{.*}} dimensions = [0]
// CHECK:         linalg.transpose
// CHECK:         linalg.transpose
// CHECK:         linalg.broadcast {{.*}} dimensions = [2]
func.func @layouts(%x: tensor<2x3x8x5xf32>, %y: tensor<3x2x6x5xf32>, %r: tensor<6x4x5xf32>, %s: tensor<5x4xf32>, %t: tensor<4x5x7xf32>)
    -> (tensor<3x2x6x5xf32>, tensor<5x4xf32>, tensor<4x5x7xf32>) {
  %shape = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %shape : tensor<2x3x8x5xf32>, tensor<3xf32>) outs(%y : tensor<3x2x6x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.minimumf %c, %a : f32
    linalg.yield %m : f32
  } -> tensor<3x2x6x5xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%r : tensor<6x4x5xf32>) outs(%s : tensor<5x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<5x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<5x4xf32>) outs(%t : tensor<4x5x7xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x5x7xf32>
  return %0, %1, %2 : tensor<3x2x6x5xf32>, tensor<5x4xf32>, tensor<4x5x7xf32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#window = affine_map<(d0, d1) -> (d0 + d1)>
#offset = affine_map<(d0, d1) -> (d1)>

// linalg multiplies and pools no elements of type `index`; it reduces them.
// CHECK-LABEL: func.func @indices
// CHECK-COUNT-2: linalg.generic
// CHECK:         linalg.reduce
func.func @indices(%x: tensor<4x5xindex>, %init: tensor<4xindex>, %v: tensor<8xindex>)
    -> (tensor<4xindex>, tensor<4xindex>, tensor<4xindex>) {
  %0 = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<4x5xindex>, tensor<4x5xindex>) outs(%init : tensor<4xindex>) {
  ^bb0(%a: index, %b: index, %c: index):
    %m = arith.muli %a, %b : index
    %s = arith.addi %c, %m : index
    linalg.yield %s : index
  } -> tensor<4xindex>
  %shape = tensor.empty() : tensor<5xindex>
  %1 = linalg.generic {indexing_maps = [#window, #offset, #row], iterator_types = ["parallel", "reduction"]}
      ins(%v, %shape : tensor<8xindex>, tensor<5xindex>) outs(%init : tensor<4xindex>) {
  ^bb0(%a: index, %b: index, %c: index):
    %s = arith.maxsi %c, %a : index
    linalg.yield %s : index
  } -> tensor<4xindex>
  %2 = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xindex>) outs(%init : tensor<4xindex>) {
  ^bb0(%a: index, %c: index):
    %s = arith.addi %c, %a : index
    linalg.yield %s : index
  } -> tensor<4xindex>
  return %0, %1, %2 : tensor<4xindex>, tensor<4xindex>, tensor<4xindex>
}
