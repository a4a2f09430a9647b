// RUN: skript-opt %s --split-input-file --skript-to-linalg-named | FileCheck %s

// Factors of bf16 and f16 that are summed in f32 stay what they are: named operations extend them.
// CHECK-LABEL: func.func @bf16
// CHECK-SAME:    %[[A:.+]]: tensor<4x6xbf16>, %[[B:.+]]: tensor<6x5xbf16>, %[[INIT:.+]]: tensor<4x5xf32>
// CHECK-NEXT:    %[[C:.+]] = linalg.matmul ins(%[[A]], %[[B]] : tensor<4x6xbf16>, tensor<6x5xbf16>) outs(%[[INIT]] : tensor<4x5xf32>)
// CHECK-NEXT:    return %[[C]]
func.func @bf16(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>, %init: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %c = skript.formula sum (%k, %j, %i) in (6, 5, 4) outs(%acc = %init : tensor<4x5xf32>) do {
    %x = skript.access %a[%i, %k] : tensor<4x6xbf16>
    %y = skript.access %b[%k, %j] : tensor<6x5xbf16>
    %l = skript.cast %x : bf16 to f32
    %r = skript.cast %y : bf16 to f32
    %v = skript.mul %l, %r : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<4x5xf32>
  return %c : tensor<4x5xf32>
}

// -----

// A sum that is written in bf16 is one of f32, rounded once.
// CHECK-LABEL: func.func @whole
// CHECK-SAME:    %[[A:.+]]: tensor<4x6xbf16>, %[[B:.+]]: tensor<6x5xbf16>
// CHECK:         %[[SUM:.+]] = linalg.matmul ins(%[[A]], %[[B]] : tensor<4x6xbf16>, tensor<6x5xbf16>) outs(%{{.+}} : tensor<4x5xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<4x5xf32>) outs(%{{.+}} : tensor<4x5xbf16>)
func.func @whole(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>) -> tensor<4x5xbf16> {
  %zero = arith.constant 0.0 : bf16
  %init = tensor.splat %zero : tensor<4x5xbf16>
  %c = skript.formula sum (%i, %j, %k) in (4, 5, 6) outs(%acc = %init : tensor<4x5xbf16>) do {
    %x = skript.access %a[%i, %k] : tensor<4x6xbf16>
    %y = skript.access %b[%k, %j] : tensor<6x5xbf16>
    %v = skript.mul %x, %y : bf16
    skript.yield %v at [%i, %j] : bf16
  } : tensor<4x5xbf16>
  return %c : tensor<4x5xbf16>
}

// -----

// The same for windows.
// CHECK-LABEL: func.func @window
// CHECK-SAME:    %[[X:.+]]: tensor<1x2x9xf16>, %[[W:.+]]: tensor<3x2x3xf16>
// CHECK:         linalg.conv_1d_ncw_fcw {{.*}} ins(%[[X]], %[[W]] : tensor<1x2x9xf16>, tensor<3x2x3xf16>) outs(%{{.+}} : tensor<1x3x7xf32>)
func.func @window(%x: tensor<1x2x9xf16>, %w: tensor<3x2x3xf16>) -> tensor<1x3x7xf16> {
  %zero = arith.constant 0.0 : f16
  %init = tensor.splat %zero : tensor<1x3x7xf16>
  %y = skript.formula sum (%n, %f, %i, %c, %j) in (1, 3, 7, 2, 3) outs(%acc = %init : tensor<1x3x7xf16>) do {
    %q = skript.add %i, %j : index
    %a = skript.access %x[%n, %c, %q] : tensor<1x2x9xf16>
    %b = skript.access %w[%f, %c, %j] : tensor<3x2x3xf16>
    %v = skript.mul %a, %b : f16
    skript.yield %v at [%n, %f, %i] : f16
  } : tensor<1x3x7xf16>
  return %y : tensor<1x3x7xf16>
}

// -----

// Poolings and reductions extend their elements as well, and a window reads a border of them instead of a guard.
// CHECK-LABEL: func.func @pool
// CHECK-SAME:    %[[X:.+]]: tensor<1x2x7x8xbf16>, %[[INIT:.+]]: tensor<1x2x7x8xf32>
// CHECK:         %[[IN:.+]] = tensor.insert_slice %[[X]] into %{{.+}}[0, 0, 1, 1] [1, 2, 7, 8] [1, 1, 1, 1] : tensor<1x2x7x8xbf16> into tensor<1x2x9x10xbf16>
// CHECK:         linalg.pooling_nchw_max {{.*}} ins(%[[IN]], %{{.+}} : tensor<1x2x9x10xbf16>, tensor<3x3xf32>) outs(%[[INIT]] : tensor<1x2x7x8xf32>)
// CHECK-NOT:     linalg.index
func.func @pool(%x: tensor<1x2x7x8xbf16>, %init: tensor<1x2x7x8xf32>) -> tensor<1x2x7x8xf32> {
  %c = skript.formula max (%n, %k, %h, %w, %i, %j) in (1, 2, 7, 8, 3, 3) outs(%acc = %init : tensor<1x2x7x8xf32>) where {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %a = skript.add %h, %i : index
    %p = skript.sub %a, %c1 : index
    %b = skript.add %w, %j : index
    %q = skript.sub %b, %c1 : index
    %0 = skript.ge %p, %c0 : index
    %1 = skript.lt %p, %c7 : index
    %2 = skript.ge %q, %c0 : index
    %3 = skript.lt %q, %c8 : index
    %4 = skript.and %0, %1 : i1
    %5 = skript.and %2, %3 : i1
    %6 = skript.and %4, %5 : i1
    skript.condition %6
  } do {
    %c1 = arith.constant 1 : index
    %a = skript.add %h, %i : index
    %p = skript.sub %a, %c1 : index
    %b = skript.add %w, %j : index
    %q = skript.sub %b, %c1 : index
    %e = skript.access %x[%n, %k, %p, %q] : tensor<1x2x7x8xbf16>
    %v = skript.cast %e : bf16 to f32
    skript.yield %v at [%n, %k, %h, %w] : f32
  } : tensor<1x2x7x8xf32>
  return %c : tensor<1x2x7x8xf32>
}

// CHECK-LABEL: func.func @reduce
// CHECK:         linalg.reduce ins(%{{.+}} : tensor<4x6xf16>) outs(%{{.+}} : tensor<4xf32>) dimensions = [1]
// CHECK-NEXT:      (%[[IN:.+]]: f16, %[[SUM:.+]]: f32) {
// CHECK-NEXT:        %[[WIDE:.+]] = arith.extf %[[IN]] : f16 to f32
// CHECK-NEXT:        %[[NEXT:.+]] = arith.addf %[[SUM]], %[[WIDE]]
// CHECK-NEXT:        linalg.yield %[[NEXT]] : f32
func.func @reduce(%x: tensor<4x6xf16>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.formula sum (%i, %j) in (4, 6) outs(%acc = %init : tensor<4xf32>) do {
    %e = skript.access %x[%i, %j] : tensor<4x6xf16>
    %v = skript.cast %e : f16 to f32
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Integers that are multiplied as indices are integers of 64 bits; what is computed of an element is computed first.
// CHECK-LABEL: func.func @indices
// CHECK-SAME:    %[[A:.+]]: tensor<4x6xi32>, %[[B:.+]]: tensor<6x5xi64>, %[[INIT:.+]]: tensor<4x5xi64>
// CHECK:         %[[C:.+]] = linalg.matmul ins(%[[A]], %[[B]] : tensor<4x6xi32>, tensor<6x5xi64>) outs(%[[INIT]] : tensor<4x5xi64>)
// CHECK:         %[[TWICE:.+]] = linalg.generic {{.*}} ins(%[[B]] : tensor<6x5xi64>) outs(%{{.+}} : tensor<6x5xi64>)
// CHECK:           arith.muli %{{.+}}, %{{.+}} : i64
// CHECK:         linalg.matmul ins(%[[A]], %[[TWICE]] : tensor<4x6xi32>, tensor<6x5xi64>) outs(%[[C]] : tensor<4x5xi64>)
func.func @indices(%a: tensor<4x6xi32>, %b: tensor<6x5xi64>, %init: tensor<4x5xi64>) -> tensor<4x5xi64> {
  %c = skript.formula sum (%i, %j, %k) in (4, 5, 6) outs(%acc = %init : tensor<4x5xi64>) do {
    %x = skript.access %a[%i, %k] : tensor<4x6xi32>
    %y = skript.access %b[%k, %j] : tensor<6x5xi64>
    %l = skript.cast %x : i32 to index
    %r = skript.cast %y : i64 to index
    %p = skript.mul %l, %r : index
    %v = skript.cast %p : index to i64
    skript.yield %v at [%i, %j] : i64
  } : tensor<4x5xi64>
  %d = skript.formula sum (%i, %j, %k) in (4, 5, 6) outs(%acc = %c : tensor<4x5xi64>) do {
    %two = arith.constant 2 : index
    %x = skript.access %a[%i, %k] : tensor<4x6xi32>
    %y = skript.access %b[%k, %j] : tensor<6x5xi64>
    %l = skript.cast %x : i32 to index
    %r = skript.cast %y : i64 to index
    %p = skript.mul %l, %r : index
    %q = skript.mul %two, %p : index
    %v = skript.cast %q : index to i64
    skript.yield %v at [%i, %j] : i64
  } : tensor<4x5xi64>
  return %d : tensor<4x5xi64>
}
