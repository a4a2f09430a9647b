// RUN: skript-opt %s --split-input-file --transform-interpreter --canonicalize --cse | FileCheck %s

// A map: destination and domain are cut, what is read is read at moved places.
// CHECK-LABEL: func.func @map
// CHECK-SAME:    %[[X:.+]]: tensor<8x6xf32>, %[[INIT:.+]]: tensor<8x6xf32>
// CHECK:         scf.for %[[AT:[a-z0-9]+]] = %{{.*}} iter_args(%[[Y:[a-z0-9]+]] = %[[INIT]])
// CHECK:           %[[PART:.+]] = tensor.extract_slice %[[Y]][%[[AT]], 0] [4, 6] [1, 1]
// CHECK:           %[[TILE:.+]] = skript.formula assign (%[[I:[a-z]+]], %[[J:[a-z]+]]) in (4, 6) outs(%{{.*}} = %[[PART]] : tensor<4x6xf32>)
// What a user wrote at the formula stands at its tiles.
// CHECK-SAME:        attributes {mine.kernel = "fast"}
// CHECK:             %[[P:.+]] = skript.add %[[I]], %[[AT]] : index
// CHECK:             skript.access %[[X]][%[[P]], %[[J]]]
// CHECK:             skript.yield %{{.*}} at [%[[I]], %[[J]]]
// CHECK:           tensor.insert_slice %[[TILE]] into %[[Y]][%[[AT]], 0] [4, 6] [1, 1]
func.func @map(%x: tensor<8x6xf32>, %init: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %y = skript.formula assign (%i, %j) in (8, 6) outs(%acc = %init : tensor<8x6xf32>) attributes {mine.kernel = "fast"} do {
    %a = skript.access %x[%i, %j] : tensor<8x6xf32>
    %v = skript.neg %a : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A contraction, in tiles that divide neither way; the tiles of the reduced loop follow each other.
// CHECK-LABEL: func.func @contraction
// CHECK-COUNT-3: scf.for
// CHECK:         skript.formula sum (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, 4, %{{.*}})
func.func @contraction(%a: tensor<7x5xf32>, %b: tensor<5x8xf32>, %init: tensor<7x8xf32>) -> tensor<7x8xf32> {
  %c = skript.formula sum (%i, %j, %k) in (7, 8, 5) outs(%acc = %init : tensor<7x8xf32>) do {
    %x = skript.access %a[%i, %k] : tensor<7x5xf32>
    %y = skript.access %b[%k, %j] : tensor<5x8xf32>
    %v = skript.mul %x, %y : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<7x8xf32>
  return %c : tensor<7x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:3 = transform.structured.tile_using_for %f tile_sizes [3, 4, 2]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A guard speaks of places in the whole domain.
// CHECK-LABEL: func.func @window
// CHECK:         scf.for %[[AT:[a-z0-9]+]] =
// CHECK:           skript.formula sum (%[[I:[a-z]+]], %[[J:[a-z]+]]) in (2, 3) outs(%{{.*}} : tensor<2xf32>) where {
// CHECK:             %[[P:.+]] = skript.add %[[I]], %[[AT]] : index
// CHECK:             skript.add %[[P]], %[[J]]
// CHECK:           } do {
// CHECK:             skript.yield %{{.*}} at [%[[I]]]
func.func @window(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
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
    skript.yield %a at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Two destinations, one of them written at a place of two loops: the outer loop cuts the first only.
// CHECK-LABEL: func.func @flat
// CHECK:         scf.for %[[AT:[a-z0-9]+]] = {{.*}} iter_args(%[[Y:[a-z0-9]+]] = %{{.*}}, %[[Z:[a-z0-9]+]] = %{{.*}})
// CHECK:           tensor.extract_slice %[[Y]][%[[AT]], 0] [1, 4] [1, 1]
// CHECK:           skript.formula assign (%{{.*}}, %{{.*}}) in (1, 4) outs(%{{.*}} : tensor<1x4xf32>, %{{.*}} = %[[Z]] : tensor<12xf32>)
func.func @flat(%x: tensor<3x4xf32>, %m: tensor<3x4xf32>, %n: tensor<12xf32>) -> (tensor<3x4xf32>, tensor<12xf32>) {
  %c4 = arith.constant 4 : index
  %y:2 = skript.formula assign (%i, %j) in (3, 4) outs(%p = %m : tensor<3x4xf32>, %q = %n : tensor<12xf32>) do {
    %r = skript.mul %i, %c4 : index
    %s = skript.add %r, %j : index
    %a = skript.access %x[%i, %j] : tensor<3x4xf32>
    skript.yield %a at [%i, %j], %a at [%s] : f32, f32
  } : tensor<3x4xf32>, tensor<12xf32>
  return %y#0, %y#1 : tensor<3x4xf32>, tensor<12xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A producer is computed in the tiles of its consumer, and tiles of parallel loops may run at once.
// CHECK-LABEL: func.func @chain
// CHECK:         scf.forall
// CHECK:           skript.formula assign (%{{.*}}) in (4)
// CHECK:           skript.formula assign (%{{.*}}) in (4)
// CHECK:           tensor.parallel_insert_slice
func.func @chain(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %h = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) do {
    %a = skript.access %x[%i] : tensor<8xf32>
    %v = skript.neg %a : f32
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  %y = skript.formula assign (%i) in (8) outs(%acc = %h : tensor<8xf32>) do {
    %a = skript.access %x[%i] : tensor<8xf32>
    %v = skript.abs %a : f32
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %p, %c = transform.split_handle %f : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %t, %l = transform.structured.tile_using_forall %c tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused, %loop = transform.structured.fuse_into_containing_op %p into %l
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A loop that a guard keeps inside of its destination, which is shorter: the destination is not cut along it.
// CHECK-LABEL: func.func @guarded
// CHECK-SAME:    %[[X:.+]]: tensor<2x4xf32>, %[[INIT:.+]]: tensor<2x3xf32>
// CHECK:         scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%[[OUTER:[a-z0-9]+]] = %[[INIT]])
// CHECK:           scf.for %[[J:[a-z0-9]+]] = {{.*}} iter_args(%[[Y:[a-z0-9]+]] = %[[OUTER]])
// CHECK:             %[[PART:.+]] = tensor.extract_slice %[[Y]][%[[I]], 0] [1, 3] [1, 1]
// CHECK:             skript.formula assign (%[[A:[a-z]+]], %[[B:[a-z]+]]) in (1, 2) outs(%{{.*}} = %[[PART]] : tensor<1x3xf32>) where
// CHECK:             do
// CHECK:               %[[P:.+]] = skript.add %[[B]], %[[J]] : index
// CHECK:               skript.yield %{{.*}} at [%[[A]], %[[P]]]
// CHECK:             tensor.insert_slice %{{.*}} into %[[Y]][%[[I]], 0] [1, 3] [1, 1]
func.func @guarded(%x: tensor<2x4xf32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c3 = arith.constant 3 : index
  %r = skript.formula assign (%i, %j) in (2, 4) outs(%acc = %init : tensor<2x3xf32>) where {
    %ok = skript.lt %j, %c3 : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i, %j] : tensor<2x4xf32>
    skript.yield %v at [%i, %j] : f32
  } : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %f tile_sizes [1, 2]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
