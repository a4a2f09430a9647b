// RUN: skript-opt %s --convert-skript-formula-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @flatten
// CHECK-SAME:    %[[X:.+]]: tensor<3x4xf32>
// CHECK-NEXT:    %[[Y:.+]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1]] : tensor<3x4xf32> into tensor<12xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @flatten(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<12xf32>
  %y = skript.formula assign (%i, %j) in (3, 4) outs(%acc = %init : tensor<12xf32>) do {
    %r = skript.mul %i, %c4 : index
    %p = skript.add %r, %j : index
    %v = skript.access %x[%i, %j] : tensor<3x4xf32>
    skript.yield %v at [%p] : f32
  } : tensor<12xf32>
  return %y : tensor<12xf32>
}

// An item of a concatenation is computed separately and inserted.
// CHECK-LABEL: func.func @item
// CHECK-SAME:    %[[X:.+]]: tensor<3xf32>, %[[INIT:.+]]: tensor<8xf32>
// CHECK:         %[[ITEM:.+]] = linalg.generic {{.*}} ins(%[[X]] : tensor<3xf32>)
// CHECK:         tensor.insert_slice %[[ITEM]] into %[[INIT]][5] [3] [1] : tensor<3xf32> into tensor<8xf32>
func.func @item(%x: tensor<3xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c5 = arith.constant 5 : index
  %y = skript.formula assign (%i) in (3) outs(%acc = %init : tensor<8xf32>) do {
    %p = skript.add %i, %c5 : index
    %a = skript.access %x[%i] : tensor<3xf32>
    %v = skript.neg %a : f32
    skript.yield %v at [%p] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Data-dependent indices are read one by one, and clamped at skipped points.
// CHECK-LABEL: func.func @gather
// CHECK:         linalg.generic
// CHECK:           %[[P:.+]] = skript.cast %{{.*}} : i64 to index
// CHECK:           tensor.extract %{{.*}}[%{{.*}}] : tensor<9xf32>
func.func @gather(%x: tensor<9xf32>, %at: tensor<4xi64>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %n = skript.access %at[%i] : tensor<4xi64>
    %p = skript.cast %n : i64 to index
    %v = skript.access %x[%p] : tensor<9xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A read of a part of a tensor in the same order is a slice.
// CHECK-LABEL: func.func @piece
// CHECK-SAME:    %[[X:.+]]: tensor<2x6xf32>
// CHECK-NEXT:    %[[Y:.+]] = tensor.extract_slice %[[X]][0, 2] [2, 3] [1, 1] : tensor<2x6xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @piece(%x: tensor<2x6xf32>) -> tensor<2x3xf32> {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<2x3xf32>
  %y = skript.formula assign (%i, %j) in (2, 3) outs(%acc = %init : tensor<2x3xf32>) do {
    %p = skript.add %j, %c2 : index
    %v = skript.access %x[%i, %p] : tensor<2x6xf32>
    skript.yield %v at [%i, %j] : f32
  } : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Also with strides.
// CHECK-LABEL: func.func @steps
// CHECK-SAME:    %[[X:.+]]: tensor<2x7xf32>
// CHECK-NEXT:    %[[Y:.+]] = tensor.extract_slice %[[X]][0, 1] [2, 3] [1, 2] : tensor<2x7xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @steps(%x: tensor<2x7xf32>) -> tensor<2x3xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<2x3xf32>
  %y = skript.formula assign (%i, %j) in (2, 3) outs(%acc = %init : tensor<2x3xf32>) do {
    %q = skript.mul %j, %c2 : index
    %p = skript.add %q, %c1 : index
    %v = skript.access %x[%i, %p] : tensor<2x7xf32>
    skript.yield %v at [%i, %j] : f32
  } : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Also the first part, inside a sum.
// CHECK-LABEL: func.func @head
// CHECK-SAME:    %[[X:.+]]: tensor<6xf32>
// CHECK:         %[[P:.+]] = tensor.extract_slice %[[X]][0] [3] [1]
// CHECK:         linalg.generic {{.*}} ins(%[[P]] : tensor<3xf32>)
func.func @head(%x: tensor<6xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<f32>
  %y = skript.formula sum (%i) in (3) outs(%acc = %init : tensor<f32>) do {
    %v = skript.access %x[%i] : tensor<6xf32>
    skript.yield %v at [] : f32
  } : tensor<f32>
  return %y : tensor<f32>
}

// The same for subscripts of the destination: digits of its index are the indices of the read.
// CHECK-LABEL: func.func @flatten_by_digits
// CHECK-SAME:    %[[X:.+]]: tensor<3x4xf32>
// CHECK-NEXT:    %[[Y:.+]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1]] : tensor<3x4xf32> into tensor<12xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @flatten_by_digits(%x: tensor<3x4xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %c4 = arith.constant 4 : index
  %r = skript.formula assign (%i) in (12) outs(%acc = %y : tensor<12xf32>) do {
    %row = skript.div %i, %c4 : index
    %column = skript.mod %i, %c4 : index
    %v = skript.access %x[%row, %column] : tensor<3x4xf32>
    skript.yield %v at [%i] : f32
  } : tensor<12xf32>
  return %r : tensor<12xf32>
}

// Digits in another order are a transposition, not a view.
// CHECK-LABEL: func.func @turned
// CHECK-NOT:     collapse_shape
// CHECK:         linalg.generic
func.func @turned(%x: tensor<3x4xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %c3 = arith.constant 3 : index
  %r = skript.formula assign (%i) in (12) outs(%acc = %y : tensor<12xf32>) do {
    %column = skript.div %i, %c3 : index
    %row = skript.mod %i, %c3 : index
    %v = skript.access %x[%row, %column] : tensor<3x4xf32>
    skript.yield %v at [%i] : f32
  } : tensor<12xf32>
  return %r : tensor<12xf32>
}
