// RUN: skript-translate %s --split-input-file --to-stablehlo | FileCheck %s

// Conjuncts of a predicate go where they cost least: what only skips rows of the result is no mask of the factors.
// CHECK:      func.func public @main(
// CHECK-SAME:    %[[X:[^ ]+]]: tensor<8x3xf32>, %[[W:[^ ]+]]: tensor<3x2xf32>, %[[N:[^ ]+]]: tensor<i32>) -> (tensor<8x2xf32>, tensor<i32>)
func.func @dense(%x: tensor<?x3xf32> {skript.bounds = array<i64: 8, 3>}, %w: tensor<3x2xf32>) -> tensor<?x2xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %m = arith.minsi %n, %c8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%m] : tensor<?x2xf32>
  // CHECK: %[[P:.+]] = stablehlo.dot_general %[[X]], %{{.+}}, contracting_dims = [1]
  // CHECK: stablehlo.select %{{.+}}, %[[P]], %{{.+}} : tensor<8x2xi1>, tensor<8x2xf32>
  %y = skript.formula sum (%i, %j, %k) in (%m, 2, 3) outs(%acc = %init : tensor<?x2xf32>) do {
    %a = skript.access %x[%i, %k] : tensor<?x3xf32>
    %b = skript.access %w[%k, %j] : tensor<3x2xf32>
    %p = skript.mul %a, %b : f32
    skript.yield %p at [%i, %j] : f32
  } : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// What a sum runs over is masked in both factors.
// CHECK: func.func public @main(
func.func @inner(%x: tensor<2x?xf32> {skript.bounds = array<i64: 2, 8>}, %w: tensor<?x2xf32> {skript.bounds = array<i64: 8, 2>}) -> tensor<2x2xf32> attributes {skript.entry} {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c1 : tensor<2x?xf32>
  %m = arith.minsi %n, %c8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<2x2xf32>
  // CHECK: %[[A:.+]] = stablehlo.select %{{.+}} : tensor<2x8xi1>, tensor<2x8xf32>
  // CHECK: %[[B:.+]] = stablehlo.select %{{.+}} : tensor<{{8x2|2x8}}xi1>
  // CHECK: stablehlo.dot_general %[[A]], %[[B]]
  %y = skript.formula sum (%i, %j, %k) in (2, 2, %m) outs(%acc = %init : tensor<2x2xf32>) do {
    %a = skript.access %x[%i, %k] : tensor<2x?xf32>
    %b = skript.access %w[%k, %j] : tensor<?x2xf32>
    %p = skript.mul %a, %b : f32
    skript.yield %p at [%i, %j] : f32
  } : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// With a dynamic batch, a convolution remains one.
// CHECK: func.func public @main(
// CHECK: stablehlo.convolution
func.func @batch(%x: tensor<?x1x8xf32> {skript.bounds = array<i64: 4, 1, 8>}, %w: tensor<1x1x3xf32>) -> tensor<?x1x8xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c0 : tensor<?x1x8xf32>
  %m = arith.minsi %n, %c4 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%m] : tensor<?x1x8xf32>
  %y = skript.formula sum (%b, %i, %k) in (%m, 8, 3) outs(%acc = %init : tensor<?x1x8xf32>) where {
    %s = skript.add %i, %k : index
    %p = skript.sub %s, %c1 : index
    %low = skript.ge %p, %c0 : index
    %high = skript.lt %p, %c8 : index
    %in = skript.and %low, %high : i1
    skript.condition %in
  } do {
    %s = skript.add %i, %k : index
    %p = skript.sub %s, %c1 : index
    %a = skript.access %x[%b, %c0, %p] : tensor<?x1x8xf32>
    %v = skript.access %w[%c0, %c0, %k] : tensor<1x1x3xf32>
    %q = skript.mul %a, %v : f32
    skript.yield %q at [%b, %c0, %i] : f32
  } : tensor<?x1x8xf32>
  return %y : tensor<?x1x8xf32>
}

// -----

// A window that slides along a dynamic dimension reads the valid elements, and zeros after them.
// CHECK: func.func public @main(
// CHECK-SAME: %[[X:[^ ]+]]: tensor<1x8xf32>, %[[W:[^ ]+]]: tensor<3xf32>
// CHECK: %[[F:.+]] = stablehlo.select %{{.+}}, %[[X]], %{{.+}} : tensor<1x8xi1>, tensor<1x8xf32>
// CHECK: stablehlo.if
// CHECK: stablehlo.convolution(%{{.+}}, %{{.+}}){{.+}}pad = {{\[\[}}1, 1]]
// CHECK: stablehlo.return
// The other branch reads all places of the window as rows that overlap.
// CHECK-NOT: stablehlo.gather
// CHECK: stablehlo.reshape %{{.+}} : (tensor<{{[0-9x]+}}xf32>) -> tensor<{{(1x)?}}3x{{[0-9]+}}xf32>
// CHECK-NOT: stablehlo.gather
// CHECK: stablehlo.return
func.func @window(%x: tensor<1x?xf32> {skript.bounds = array<i64: 1, 8>}, %w: tensor<3xf32>) -> tensor<1x?xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %d = tensor.dim %x, %c1 : tensor<1x?xf32>
  %n = arith.minsi %d, %c8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<1x?xf32>
  %y = skript.formula sum (%b, %i, %k) in (1, %n, 3) outs(%acc = %init : tensor<1x?xf32>) where {
    %s = skript.add %i, %k : index
    %p = skript.sub %s, %c1 : index
    %low = skript.ge %p, %c0 : index
    %high = skript.lt %p, %n : index
    %inside = skript.and %low, %high : i1
    skript.condition %inside
  } do {
    %s = skript.add %i, %k : index
    %p = skript.sub %s, %c1 : index
    %a = skript.access %x[%b, %p] : tensor<1x?xf32>
    %f = skript.access %w[%k] : tensor<3xf32>
    %m = skript.mul %a, %f : f32
    skript.yield %m at [%b, %i] : f32
  } : tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

// -----

// The same of maxima: behind the elements stands what is less than all.
// CHECK: func.func public @main(
// CHECK-SAME: %[[X:[^ ]+]]: tensor<8xf32>
// CHECK: %[[LEAST:.+]] = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
// CHECK: %[[F:.+]] = stablehlo.select %{{.+}}, %[[X]], %[[LEAST]]
// CHECK: "stablehlo.reduce_window"(%[[F]]
// CHECK-NOT: stablehlo.gather
func.func @maxima(%x: tensor<?xf32> {skript.bounds = array<i64: 8>}) -> tensor<?xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula max (%i, %k) in (%n, 3) outs(%acc = %init : tensor<?xf32>) where {
    %s = skript.add %i, %k : index
    %p = skript.sub %s, %c1 : index
    %low = skript.ge %p, %c0 : index
    %high = skript.gt %n, %p : index
    %inside = skript.and %low, %high : i1
    skript.condition %inside
  } do {
    %s = skript.add %i, %k : index
    %p = skript.sub %s, %c1 : index
    %a = skript.access %x[%p] : tensor<?xf32>
    skript.yield %a at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}
