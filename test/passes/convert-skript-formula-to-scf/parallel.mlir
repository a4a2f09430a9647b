// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf=parallel=true | FileCheck %s
// RUN: skript-opt %s --split-input-file --convert-skript-formula-to-scf | FileCheck %s --check-prefix=ORDER

// ORDER-NOT: scf.parallel

// Data select the rows, which may be equal, so they are computed in order. The columns of a row are independent.
// CHECK-LABEL: func.func @rows
// CHECK:         scf.for
// CHECK:           scf.parallel
// CHECK:             memref.store
// CHECK:             scf.reduce
func.func @rows(%x: tensor<4x3xf32>, %at: tensor<4xi64>, %init: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %z = skript.formula sum (%i, %j) in (4, 3) outs(%acc = %init : tensor<5x3xf32>) do {
    %n = skript.access %at[%i] : tensor<4xi64>
    %p = skript.cast %n : i64 to index
    %v = skript.access %x[%i, %j] : tensor<4x3xf32>
    skript.yield %v at [%p, %j] : f32
  } : tensor<5x3xf32>
  return %z : tensor<5x3xf32>
}

// -----

// A window's positions meet where it steps by less than its length; positions of one offset do not.
// CHECK-LABEL: func.func @windows
// CHECK:         scf.for
// CHECK:           scf.parallel
func.func @windows(%x: tensor<4x3xf32>, %init: tensor<9xf32>) -> tensor<9xf32> {
  %c2 = arith.constant 2 : index
  %z = skript.formula sum (%i, %j) in (4, 3) outs(%acc = %init : tensor<9xf32>) do {
    %s = skript.mul %i, %c2 : index
    %p = skript.add %s, %j : index
    %v = skript.access %x[%i, %j] : tensor<4x3xf32>
    skript.yield %v at [%p] : f32
  } : tensor<9xf32>
  return %z : tensor<9xf32>
}

// -----

// A reduction carries its element from step to step; what is reduced to is apart.
// CHECK-LABEL: func.func @sums
// CHECK:         scf.parallel
// CHECK:           scf.for {{.*}} iter_args
func.func @sums(%x: tensor<4x3xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %z = skript.formula sum (%i, %j) in (4, 3) outs(%acc = %init : tensor<4xf32>) do {
    %v = skript.access %x[%i, %j] : tensor<4x3xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// Formulas that read the current elements run in order.
// CHECK-LABEL: func.func @running
// CHECK-NOT:     scf.parallel
func.func @running(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = skript.formula replace (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %q = skript.sub %i, %c1 : index
    %p = skript.max %q, %c0 : index
    %a = skript.access %acc[%p] : tensor<4xf32>
    %v = skript.access %x[%i] : tensor<4xf32>
    %s = skript.add %a, %v : f32
    skript.yield %s at [%i] : f32
  } : tensor<4xf32>
  return %z : tensor<4xf32>
}
