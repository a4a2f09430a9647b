// RUN: skript-opt %s --split-input-file --skript-split-guards=interior=50 --canonicalize | FileCheck %s
// RUN: skript-opt %s --split-input-file --skript-split-guards --canonicalize | FileCheck %s --check-prefix=WHOLE

// y[i] += x[|i + j - 1|] * w[j]: the first and the last position may leave x, the six between them never do.
// CHECK-LABEL: func.func @smooth
// CHECK-SAME:    %[[X:.+]]: tensor<8xf32>, %[[W:.+]]: tensor<3xf32>, %[[INIT:.+]]: tensor<8xf32>
// CHECK:         %[[A:.+]] = tensor.extract_slice %[[INIT]][0] [1] [1]
// CHECK:         %[[FIRST:.+]] = skript.formula sum ({{.*}}) in (1, 3) outs(%{{.*}} = %[[A]] : tensor<1xf32>) where
// CHECK:         %[[WITH:.+]] = tensor.insert_slice %[[FIRST]] into %[[INIT]][0] [1] [1]
// CHECK:         skript.formula sum ({{.*}}) in (1, 3) {{.*}} where
// CHECK:         %[[BORDERS:.+]] = tensor.insert_slice %{{.*}} into %[[WITH]][7] [1] [1]
// CHECK:         %[[B:.+]] = tensor.extract_slice %[[BORDERS]][1] [6] [1]
// CHECK:         %[[INTERIOR:.+]] = skript.formula sum ({{.*}}) in (6, 3) outs(%{{.*}} = %[[B]] : tensor<6xf32>) do
// CHECK:         tensor.insert_slice %[[INTERIOR]] into %[[BORDERS]][1] [6] [1]
// 75 % of the points are interior.
// WHOLE-LABEL: func.func @smooth
// WHOLE-COUNT-3: skript.formula
func.func @smooth(%x: tensor<8xf32>, %w: tensor<3xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = skript.formula sum (%i, %j) in (8, 3) outs(%acc = %init : tensor<8xf32>) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c8 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%r] : tensor<8xf32>
    %b = skript.access %w[%j] : tensor<3xf32>
    %v = skript.mul %a, %b : f32
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Mostly border: with a large limit it is not split, and neither are operations without guards.
// CHECK-LABEL: func.func @others
// WHOLE-LABEL: func.func @others
// WHOLE-COUNT-2: skript.formula
// WHOLE-NOT:     skript.formula
func.func @others(%x: tensor<4xf32>, %init: tensor<4xf32>, %small: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y = skript.formula max (%i, %j) in (4, 3) outs(%acc = %init : tensor<4xf32>) where {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %lo = skript.ge %r, %c0 : index
    %hi = skript.lt %r, %c4 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %c1 : index
    %a = skript.access %x[%r] : tensor<4xf32>
    skript.yield %a at [%i] : f32
  } : tensor<4xf32>
  %z = skript.formula max (%i, %j) in (2, 3) outs(%acc = %small : tensor<2xf32>) do {
    %q = skript.add %i, %j : index
    %a = skript.access %x[%q] : tensor<4xf32>
    skript.yield %a at [%i] : f32
  } : tensor<2xf32>
  return %y, %z : tensor<4xf32>, tensor<2xf32>
}

// -----

// An output that its loop leads beyond is not cut along that loop: the guard keeps writes inside.
// CHECK-LABEL: func.func @beyond
// CHECK-NOT:     tensor.extract_slice
// CHECK:         skript.formula max ({{.*}}) in (5, 3) {{.*}} where
// WHOLE-LABEL: func.func @beyond
func.func @beyond(%x: tensor<8xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %c4 = arith.constant 4 : index
  %r = skript.formula max (%i, %j) in (5, 3) outs(%acc = %init : tensor<4xf32>) where {
    %ok = skript.lt %i, %c4 : index
    skript.condition %ok
  } do {
    %p = skript.add %i, %j : index
    %v = skript.access %x[%p] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
