// RUN: skript-opt %s --skript-raise-accumulations | FileCheck %s

// No module is refused. These formulas run in order: a sum of reals, whose rounding depends on the order; a maximum with another
// element of the output; a current element that is read twice; and a condition that reads it.
// CHECK-LABEL: func.func @ordered
// CHECK-COUNT-4: skript.formula replace
func.func @ordered(%x: tensor<8x4xf32>, %init: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xf32>) do {
    %b = skript.access %acc[%i] : tensor<8xf32>
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %m = skript.add %b, %a : f32
    skript.yield %m at [%i] : f32
  } : tensor<8xf32>
  %z = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xf32>) do {
    %b = skript.access %acc[%j] : tensor<8xf32>
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %m = skript.max %b, %a : f32
    skript.yield %m at [%i] : f32
  } : tensor<8xf32>
  %v = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xf32>) do {
    %b = skript.access %acc[%i] : tensor<8xf32>
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %c = skript.sub %a, %b : f32
    %m = skript.max %b, %c : f32
    skript.yield %m at [%i] : f32
  } : tensor<8xf32>
  %w = skript.formula replace (%i, %j) in (8, 4) outs(%acc = %init : tensor<8xf32>) where {
    %b = skript.access %acc[%i] : tensor<8xf32>
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %less = skript.lt %a, %b : f32
    skript.condition %less
  } do {
    %b = skript.access %acc[%i] : tensor<8xf32>
    %a = skript.access %x[%i, %j] : tensor<8x4xf32>
    %m = skript.max %b, %a : f32
    skript.yield %m at [%i] : f32
  } : tensor<8xf32>
  return %y, %z, %v, %w : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
