// RUN: skript-opt %s --split-input-file --verify-diagnostics --transform-interpreter

func.func @in_order(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{runs in the order of its loops: it is not tiled}}
  // expected-error @below {{to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %y = skript.formula replace (%i) in (8) outs(%acc = %init : tensor<8xf32>) do {
    %v = skript.access %x[%i] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @running(%x: tensor<8xf32>, %init: tensor<9xf32>) -> tensor<9xf32> {
  %c1 = arith.constant 1 : index
  // expected-error @below {{runs in the order of its loops: it is not tiled}}
  // expected-error @below {{to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<9xf32>) do {
    %n = skript.add %i, %c1 : index
    %p = skript.access %acc[%i] : tensor<9xf32>
    %a = skript.access %x[%i] : tensor<8xf32>
    %v = skript.add %p, %a : f32
    skript.yield %v at [%n] : f32
  } : tensor<9xf32>
  return %y : tensor<9xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @places(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c3 = arith.constant 3 : index
  // expected-error @below {{writes several elements of a tensor in one step, which tiling does not support}}
  // expected-error @below {{to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %y:2 = skript.formula sum (%i) in (8) outs(%a = %x : tensor<8xf32>, %b = %x : tensor<8xf32>)
      attributes {skript.same_tensor = array<i32: 0, 0>} do {
    %v = arith.constant 1.0 : f32
    skript.yield %v at [%i], %v at [%c3] : f32, f32
  } : tensor<8xf32>, tensor<8xf32>
  return %y#0 : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
