// RUN: skript-opt %s --split-input-file --skript-merge-duplicates | FileCheck %s

// Equal formulas are merged, formulas that read another tensor are kept, unused ones are removed.
// CHECK-LABEL: func.func @formulas
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         %[[A:.+]] = skript.formula
// CHECK:           skript.access %[[X]]
// CHECK:         %[[B:.+]] = skript.formula
// CHECK:           skript.access %[[Y]]
// CHECK-NOT:     skript.formula
// CHECK:         return %[[A]], %[[A]], %[[B]]
func.func @formulas(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %0 = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %a = skript.access %x[%i] : tensor<4xf32>
    %v = skript.neg %a : f32
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  %again = tensor.splat %zero : tensor<4xf32>
  %1 = skript.formula assign (%j) in (4) outs(%acc = %again : tensor<4xf32>) do {
    %a = skript.access %x[%j] : tensor<4xf32>
    %v = skript.neg %a : f32
    skript.yield %v at [%j] : f32
  } : tensor<4xf32>
  %2 = skript.formula assign (%j) in (4) outs(%acc = %again : tensor<4xf32>) do {
    %a = skript.access %y[%j] : tensor<4xf32>
    %v = skript.neg %a : f32
    skript.yield %v at [%j] : f32
  } : tensor<4xf32>
  %3 = skript.formula assign (%j) in (4) outs(%acc = %again : tensor<4xf32>) do {
    %a = skript.access %y[%j] : tensor<4xf32>
    %v = skript.abs %a : f32
    skript.yield %v at [%j] : f32
  } : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What is around counts inside, what is inside does not count behind; effects stay.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME:    %[[C:[a-z0-9]+]]: i1, %[[X:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: f32
// CHECK:         %[[S:.+]] = skript.add %[[X]], %[[Y]]
// CHECK:         scf.if
// CHECK-NEXT:      %[[P:.+]] = skript.mul %[[S]], %[[Y]]
// CHECK-NEXT:      scf.yield %[[P]]
// CHECK:           scf.yield %[[S]]
// CHECK:         skript.mul %[[S]], %[[Y]]
// CHECK-COUNT-2: call @effect
func.func private @effect()
func.func @blocks(%c: i1, %x: f32, %y: f32) -> (f32, f32) {
  %s = skript.add %x, %y : f32
  %r = scf.if %c -> f32 {
    %t = skript.add %x, %y : f32
    %p = skript.mul %t, %y : f32
    scf.yield %p : f32
  } else {
    %t = skript.add %x, %y : f32
    scf.yield %t : f32
  }
  %p = skript.mul %s, %y : f32
  call @effect() : () -> ()
  call @effect() : () -> ()
  return %r, %p : f32, f32
}
