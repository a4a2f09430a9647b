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
