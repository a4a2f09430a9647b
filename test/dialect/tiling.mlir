// RUN: skript-opt %s --split-input-file --transform-interpreter --canonicalize --cse | FileCheck %s

// A map: destination, domain and what is read at an index alone are cut.
// CHECK-LABEL: func.func @map
// CHECK-SAME:    %[[X:.+]]: tensor<8x6xf32>, %[[INIT:.+]]: tensor<8x6xf32>
// CHECK:         scf.for %[[AT:[a-z0-9]+]] = %{{.*}} iter_args(%[[Y:[a-z0-9]+]] = %[[INIT]])
// CHECK:           %[[PART:.+]] = tensor.extract_slice %[[Y]][%[[AT]], 0] [4, 6] [1, 1]
// CHECK:           %[[READ:.+]] = tensor.extract_slice %[[X]][%[[AT]], 0] [4, 6] [1, 1]
// CHECK:           %[[TILE:.+]] = skript.formula assign (%[[I:[a-z]+]], %[[J:[a-z]+]]) in (4, 6) outs(%{{.*}} = %[[PART]] : tensor<4x6xf32>)
// Tiles keep the attributes of users on the formula.
// CHECK-SAME:        attributes {mine.kernel = "fast"}
// CHECK:             skript.access %[[READ]][%[[I]], %[[J]]] : tensor<4x6xf32>
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
// CHECK-SAME:    %[[A:.+]]: tensor<7x5xf32>, %[[B:.+]]: tensor<5x8xf32>
// CHECK:         scf.for %[[I:[a-z0-9]+]] =
// CHECK:           scf.for %[[J:[a-z0-9]+]] =
// CHECK:             scf.for %[[K:[a-z0-9]+]] =
// CHECK-DAG:           %[[LEFT:.+]] = tensor.extract_slice %[[A]][%[[I]], %[[K]]] [%{{.*}}, %{{.*}}] [1, 1]
// CHECK-DAG:           %[[RIGHT:.+]] = tensor.extract_slice %[[B]][%[[K]], %[[J]]] [%{{.*}}, 4] [1, 1]
// CHECK:               skript.formula sum (%[[P:.+]], %[[Q:.+]], %[[R:.+]]) in (%{{.*}}, 4, %{{.*}})
// CHECK:                 skript.access %[[LEFT]][%[[P]], %[[R]]]
// CHECK:                 skript.access %[[RIGHT]][%[[R]], %[[Q]]]
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

// -----

// What a formula reads is computed in its tiles. Along open extents too, where both loops are seen to end at the same extent.
// CHECK-LABEL: func.func @read
// CHECK:         scf.for
// CHECK:           %[[PART:.+]] = skript.formula assign (%{{.*}}, %{{.*}}) in (%[[ROWS:[a-z0-9_]+]], %[[COLUMNS:[a-z0-9_]+]])
// CHECK:           skript.formula sum (%{{.*}}, %{{.*}}) in (%[[ROWS]], %[[COLUMNS]])
// CHECK:             skript.access %[[PART]]
// CHECK-NOT:       = skript.formula
func.func @read(%x: tensor<?x?xf32>, %init: tensor<?x?xf32>, %zeros: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %init, %c0 : tensor<?x?xf32>
  %m = tensor.dim %init, %c1 : tensor<?x?xf32>
  %h = skript.formula assign (%i, %j) in (%n, %m) outs(%acc = %init : tensor<?x?xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<?x?xf32>
    %v = skript.exp %a : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<?x?xf32>
  %s = skript.formula sum (%i, %j) in (%n, %m) outs(%acc = %zeros : tensor<?xf32>) do {
    %a = skript.access %h[%i, %j] : tensor<?x?xf32>
    skript.yield %a at [%i] : f32
  } : tensor<?xf32>
  return %s : tensor<?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %p, %c = transform.split_handle %f : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %t, %l = transform.structured.fuse %c tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Tensors that are read at two indices, at indices that may exceed the loop, and at sums of two loops are not tiled.
// CHECK-LABEL: func.func @whole
// CHECK-SAME:    %[[X:.+]]: tensor<8x8xf32>, %[[Y:.+]]: tensor<?xf32>, %[[Z:.+]]: tensor<9xf32>
// CHECK:         scf.for
// CHECK-COUNT-1:   tensor.extract_slice
// CHECK:           skript.formula
// CHECK:             skript.access %[[X]]
// CHECK:             skript.access %[[X]]
// CHECK:             skript.access %[[Z]]
// CHECK:             skript.access %[[Y]]
func.func @whole(%x: tensor<8x8xf32>, %y: tensor<?xf32>, %z: tensor<9xf32>, %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %r = skript.formula assign (%i, %j) in (8, 8) outs(%acc = %init : tensor<8x8xf32>) do {
    %a = skript.access %x[%i, %j] : tensor<8x8xf32>
    %b = skript.access %x[%j, %i] : tensor<8x8xf32>
    %next = skript.add %i, %c1 : index
    %c = skript.access %z[%next] : tensor<9xf32>
    %inside = skript.lt %i, %n : index
    %d = scf.if %inside -> f32 {
      %e = skript.access %y[%i] : tensor<?xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    %ab = skript.add %a, %b : f32
    %cd = skript.add %c, %d : f32
    %v = skript.add %ab, %cd : f32
    skript.yield %v at [%i, %j] : f32
  } : tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Where the sum may be one of nothing, no step says that the other loop stays inside: a tile is no larger than what is left.
// CHECK-DAG:     #[[LEFT:.+]] = affine_map<(d0)[s0, s1, s2] -> (-d0 + s2, 4, s0 - s1)>
// CHECK-DAG:     #[[MOST:.+]] = affine_map<()[s0] -> (0, s0)>
// CHECK-LABEL: func.func @of_nothing
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<?xf32>, %[[M:[a-z0-9]+]]: index, %[[INIT:[a-z0-9]+]]: tensor<?xf32>
// CHECK:         scf.for %[[AT:[a-z0-9]+]] = %{{.*}} to %[[M]] step %{{.*}} iter_args(%[[Y:[a-z0-9]+]] = %[[INIT]])
// CHECK:           %[[EXTENT:.+]] = tensor.dim %[[Y]]
// CHECK:           %[[FEW:.+]] = affine.min #[[LEFT]](%[[AT]])[%[[EXTENT]], %[[AT]], %[[M]]]
// CHECK:           %[[SIZE:.+]] = affine.max #[[MOST]]()[%[[FEW]]]
// CHECK:           tensor.extract_slice %[[Y]][%[[AT]]] [%[[SIZE]]] [1]
// CHECK:           skript.formula sum (%{{.+}}, %{{.+}}) in (%[[SIZE]], %{{.+}})
func.func @of_nothing(%b: tensor<?xf32>, %m: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %k = tensor.dim %b, %c0 : tensor<?xf32>
  %y = skript.formula sum (%i, %p) in (%m, %k) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %b[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["skript.formula"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %f tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
