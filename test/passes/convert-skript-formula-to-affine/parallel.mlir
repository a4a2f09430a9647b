// RUN: skript-opt %s --convert-skript-formula-to-affine=parallel=true | FileCheck %s

// Groups and their members count through one dimension, in whatever order; what is summed over is in order.
// CHECK-LABEL: func.func @groups
// CHECK:         affine.parallel (%[[M:.+]]) = (0) to (3) {
// CHECK:           affine.parallel (%[[G:.+]]) = (0) to (2) {
// CHECK:             affine.for {{.*}} iter_args
// CHECK:             affine.store
func.func @groups(%x: tensor<2x3x4xf32>, %init: tensor<6xf32>) -> tensor<6xf32> {
  %c3 = arith.constant 3 : index
  %z = skript.formula sum (%m, %g, %k) in (3, 2, 4) outs(%acc = %init : tensor<6xf32>) do {
    %s = skript.mul %g, %c3 : index
    %p = skript.add %s, %m : index
    %v = skript.access %x[%g, %m, %k] : tensor<2x3x4xf32>
    skript.yield %v at [%p] : f32
  } : tensor<6xf32>
  return %z : tensor<6xf32>
}

// An extent that the function's argument has; a diagonal, whose offsets do not tell it apart from another one.
// CHECK-LABEL: func.func @open
// CHECK:         affine.parallel (%{{.+}}) = (0) to ({{.*}}%{{.+}}) {
// CHECK-LABEL: func.func @diagonal
// CHECK:         affine.for
// CHECK-NEXT:      affine.parallel
func.func @open(%x: tensor<?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %z = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %z : tensor<?xf32>
}

func.func @diagonal(%x: tensor<4x4xf32>, %init: tensor<7xf32>) -> tensor<7xf32> {
  %z = skript.formula sum (%i, %j) in (4, 4) outs(%acc = %init : tensor<7xf32>) do {
    %p = skript.add %i, %j : index
    %v = skript.access %x[%i, %j] : tensor<4x4xf32>
    skript.yield %v at [%p] : f32
  } : tensor<7xf32>
  return %z : tensor<7xf32>
}
