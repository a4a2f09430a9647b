// RUN: skript-opt %s --convert-skript-formula-to-affine | FileCheck %s
// RUN: skript-opt %s --convert-skript-formula-to-affine --lower-affine -o /dev/null

// Bounds that are known only at run time are operands of the loops.
// CHECK-LABEL: func @rows
// CHECK-SAME:    %[[X:.+]]: tensor<?x4xf32>, %[[N:.+]]: index
// CHECK:         %[[OUT:.+]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK:         affine.for %[[F:.+]] = 0 to #{{.+}}(%[[N]])
// CHECK-NEXT:      affine.store %{{.+}}, %[[OUT]][%[[F]]]
// CHECK:         affine.for %[[I:.+]] = 0 to #{{.+}}(%[[N]])
// CHECK:           affine.for %[[J:.+]] = 0 to 4 iter_args
// CHECK:             affine.load %{{.+}}[%[[I]], %[[J]]] : memref<?x4xf32>
// CHECK-NOT:     scf.
func.func @rows(%x: tensor<?x4xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula sum (%i, %j) in (%n, 4) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i, %j] : tensor<?x4xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A guard that compares with such an extent is no affine condition: it stays a branch.
// CHECK-LABEL: func @guarded
// CHECK:         affine.for
// CHECK:           scf.if
// CHECK:             affine.load
func.func @guarded(%x: tensor<?xf32>, %n: index, %init: tensor<8xf32>) -> tensor<8xf32> {
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) where {
    %ok = skript.lt %i, %n : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Extents are dimensions of the maps: from the end, and behind another tensor.
// CHECK-LABEL: func @reversed
// CHECK-SAME:    %[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index
// CHECK:         affine.for %[[I:.+]] = 0 to #{{.+}}(%[[N]])
// CHECK:           affine.load %{{.+}}[-%[[I]] + %[[N]] - 1] : memref<?xf32>
func.func @reversed(%x: tensor<?xf32>, %n: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %one = arith.constant 1 : index
    %last = skript.sub %n, %one : index
    %place = skript.sub %last, %i : index
    %v = skript.access %x[%place] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func @behind
// CHECK:         %[[N:.+]] = tensor.dim
// CHECK:         affine.for %[[I:.+]] = 0 to
// CHECK:           affine.store %{{.+}}, %{{.+}}[%[[I]] + %[[N]]] : memref<?xf32>
func.func @behind(%a: tensor<?xf32>, %b: tensor<?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  %y = skript.formula assign (%i) in (%m) outs(%acc = %init : tensor<?xf32>) do {
    %place = skript.add %i, %n : index
    %v = skript.access %b[%i] : tensor<?xf32>
    skript.yield %v at [%place] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A choice between places, and an extent of 64 bits beside the indices.
// CHECK-LABEL: func @clamped
// CHECK:         affine.for
// CHECK:           affine.if
// CHECK:             affine.load
// CHECK:           } else {
// CHECK:             affine.load
func.func @clamped(%x: tensor<?xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %wide = arith.index_cast %n : index to i64
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) where {
    %none = arith.constant 0 : i64
    %some = skript.gt %wide, %none : i64
    skript.condition %some
  } do {
    %one = arith.constant 1 : i64
    %last = skript.sub %wide, %one : i64
    %own = skript.cast %i : index to i64
    %least = skript.min %own, %last : i64
    %place = skript.cast %least : i64 to index
    %v = skript.access %x[%place] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
