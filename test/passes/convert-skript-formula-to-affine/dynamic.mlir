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
