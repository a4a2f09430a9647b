// RUN: skript-opt %s --convert-skript-formula-to-linalg --canonicalize --cse | FileCheck %s

// If a check establishes that the loops have the extents of the tensors, these are operands without slices.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    (%[[X:.+]]: tensor<?x?xf32>, %[[W:.+]]: tensor<?x5xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME:      ins(%[[X]], %[[W]] : tensor<?x?xf32>, tensor<?x5xf32>)
// CHECK-SAME:      outs(%{{.+}} : tensor<?x5xf32>)
// CHECK-NOT:     tensor.{{extract|insert}}_slice
// CHECK:         return
func.func @product(%x: tensor<?x?xf32>, %w: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %k = tensor.dim %x, %c1 : tensor<?x?xf32>
  %l = tensor.dim %w, %c0 : tensor<?x5xf32>
  %same = skript.eq %k, %l : index
  skript.check %same, "SK9204", "the extents differ"
  %init = tensor.splat %zero[%n] : tensor<?x5xf32>
  %y = skript.formula sum (%i, %j, %r) in (%n, 5, %k) outs(%acc = %init : tensor<?x5xf32>) do {
    %a = skript.access %x[%i, %r] : tensor<?x?xf32>
    %b = skript.access %w[%r, %j] : tensor<?x5xf32>
    %p = skript.mul %a, %b : f32
    skript.yield %p at [%i, %j] : f32
  } : tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// Tensors that may be larger are sliced.
// CHECK-LABEL: func.func @part
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index, %[[INIT:.+]]: tensor<?xf32>)
// CHECK:         %[[PART:.+]] = tensor.extract_slice %[[X]][0] [%[[N]]] [1]
// CHECK:         %[[MADE:.+]] = linalg.generic {{.*}} ins(%[[PART]] : tensor<?xf32>)
// CHECK:         tensor.insert_slice %[[MADE]] into %[[INIT]][0] [%[[N]]] [1]
func.func @part(%x: tensor<?xf32>, %n: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    %e = skript.exp %v : f32
    skript.yield %e at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A border of dynamic size along a static dimension.
// CHECK-LABEL: func.func @border
// CHECK-SAME:    (%[[X:.+]]: tensor<?x8xf32>)
// CHECK:         %[[N:.+]] = tensor.dim %[[X]]
// CHECK:         %[[EMPTY:.+]] = tensor.empty(%[[N]]) : tensor<?x10xf32>
// CHECK:         %[[FULL:.+]] = linalg.fill {{.*}} outs(%[[EMPTY]] : tensor<?x10xf32>)
// CHECK:         %[[WIDE:.+]] = tensor.insert_slice %[[X]] into %[[FULL]][0, 1] [%[[N]], 8] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]], %{{.+}} : tensor<?x10xf32>, tensor<3xf32>)
// CHECK-NOT:       skript.select
// CHECK:         return
func.func @border(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %init = tensor.splat %least[%n] : tensor<?x8xf32>
  %y = skript.formula max (%b, %i, %j) in (%n, 8, 3) outs(%acc = %init : tensor<?x8xf32>) where {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %eight = arith.constant 8 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %lo = skript.ge %r, %zero : index
    %hi = skript.lt %r, %eight : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %one = arith.constant 1 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %a = skript.access %x[%b, %r] : tensor<?x8xf32>
    skript.yield %a at [%b, %i] : f32
  } : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// A loop whose extent no tensor has gets an operand that is never read.
// CHECK-LABEL: func.func @copies
// CHECK:         %[[SHAPE:.+]] = tensor.empty(%{{.+}}) : tensor<?xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%{{.+}}, %[[SHAPE]] :
func.func @copies(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<4xf32>
  %y = skript.formula sum (%i, %k) in (4, %n) outs(%acc = %init : tensor<4xf32>) do {
    %a = skript.access %x[%i] : tensor<4xf32>
    skript.yield %a at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A window along a dynamic dimension: with its border the tensor is as long as the loops reach.
// CHECK-LABEL: func.func @window
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>)
// CHECK:         %[[N:.+]] = tensor.dim %[[X]]
// CHECK:         %[[LONG:.+]] = skript.add %[[N]], %c2
// CHECK:         %[[EMPTY:.+]] = tensor.empty(%[[LONG]])
// CHECK:         %[[FULL:.+]] = linalg.fill {{.*}} outs(%[[EMPTY]] : tensor<?xf32>)
// CHECK:         %[[PART:.+]] = tensor.extract_slice %[[X]][0]
// CHECK:         %[[WIDE:.+]] = tensor.insert_slice %[[PART]] into %[[FULL]][1]
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]], %{{.+}} : tensor<?xf32>, tensor<3xf32>)
// CHECK-NOT:       select
// CHECK:         return
func.func @window(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.splat %least[%n] : tensor<?xf32>
  %y = skript.formula max (%i, %j) in (%n, 3) outs(%acc = %init : tensor<?xf32>) where {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %lo = skript.ge %r, %zero : index
    %hi = skript.lt %r, %n : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %one = arith.constant 1 : index
    %q = skript.add %i, %j : index
    %r = skript.sub %q, %one : index
    %a = skript.access %x[%r] : tensor<?xf32>
    skript.yield %a at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Without a guard, all reads are in bounds, and no border is necessary.
// CHECK-LABEL: func.func @inside
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic {indexing_maps = [#[[SUM:.+]], #{{.+}}, #{{.+}}]{{.*}} ins(%[[X]], %{{.+}} : tensor<?xf32>, tensor<3xf32>)
// CHECK:         return
func.func @inside(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula sum (%i, %j) in (%n, 3) outs(%acc = %init : tensor<?xf32>) do {
    %q = skript.add %i, %j : index
    %a = skript.access %x[%q] : tensor<?xf32>
    skript.yield %a at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A guard of other things stays, as a choice; what a sum skips may lie behind the end, in the border.
// CHECK-LABEL: func.func @chosen
// CHECK:         %[[WIDE:.+]] = tensor.insert_slice
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]], %{{.+}} : tensor<?xf32>, tensor<3xf32>)
// CHECK:           skript.lt %{{.+}}, %[[M:.+]] : index
// CHECK:           skript.select
// CHECK-NOT:       scf.if
// CHECK:         return
func.func @chosen(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula sum (%i, %j) in (%n, 3) outs(%acc = %init : tensor<?xf32>) where {
    %p = skript.add %i, %j : index
    %ok = skript.lt %p, %m : index
    skript.condition %ok
  } do {
    %p = skript.add %i, %j : index
    %v = skript.access %x[%p] : tensor<?xf32>
    %q = skript.mul %v, %v : f32
    skript.yield %q at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Elements that are read once need no copy: only contributing points read them.
// CHECK-LABEL: func.func @once
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>, %{{.+}}: index, %[[M:.+]]: index)
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic {{.*}} outs(%{{.+}} : tensor<?xf32>)
// CHECK:         ^bb0(%[[PRESENT:.+]]: f32):
// CHECK:           %[[I:.+]] = linalg.index 0
// CHECK:           %[[COUNTS:.+]] = skript.lt %[[I]], %[[M]] : index
// CHECK:           %[[V:.+]] = scf.if %[[COUNTS]] -> (f32) {
// CHECK:             %[[E:.+]] = tensor.extract %[[X]][%[[I]]]
// CHECK:             scf.yield %[[E]] : f32
// CHECK:           } else {
// CHECK:             scf.yield %[[PRESENT]] : f32
// CHECK:           linalg.yield %[[V]] : f32
func.func @once(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) where {
    %ok = skript.lt %i, %m : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A diagonal is less than what its places span: it is read where it is, and what is skipped adds nothing.
// CHECK-LABEL: func.func @diagonal
// CHECK-SAME:    (%[[X:.+]]: tensor<?x?xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK:         ^bb0(%{{.*}}%[[SUM:[^:]+]]: f32):
// CHECK:           %[[V:.+]] = scf.if
// CHECK:             tensor.extract %[[X]]
// CHECK:           } else {
// CHECK:             scf.yield %cst : f32
// CHECK:           %[[NEXT:.+]] = skript.add %[[SUM]], %[[V]] {accumulates}
// CHECK:           linalg.yield %[[NEXT]] : f32
func.func @diagonal(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %init = tensor.splat %zero : tensor<1xf32>
  %y = skript.formula sum (%i) in (%n) outs(%acc = %init : tensor<1xf32>) where {
    %ok = skript.lt %i, %m : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i, %i] : tensor<?x?xf32>
    skript.yield %v at [%c0] : f32
  } : tensor<1xf32>
  return %y : tensor<1xf32>
}

// A table of dynamic length; a branch that may not read it remains a branch, with the divisions in it.
// CHECK-LABEL: func.func @table
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index)
// CHECK:         linalg.generic
// CHECK:           %[[I:.+]] = linalg.index 0
// CHECK:           scf.if
// CHECK:             %[[P:.+]] = skript.mod %[[I]], %[[N]] : index
// CHECK:             tensor.extract %[[X]][%[[P]]]
// CHECK:           } else {
// CHECK-NOT:       arith.select
// CHECK:         return
func.func @table(%x: tensor<?xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %init = tensor.splat %zero : tensor<8xf32>
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) do {
    %some = skript.gt %n, %c0 : index
    %v = scf.if %some -> (f32) {
      %p = skript.mod %i, %n : index
      %e = skript.access %x[%p] : tensor<?xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Another shape of the same elements is a reshape, along dynamic dimensions and between them.
// CHECK-LABEL: func.func @shaped
// CHECK-SAME:    (%[[X:.+]]: tensor<?x1x6x?xf32>)
// CHECK:         tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3], [4]] {{.*}} into tensor<?x1x2x3x?xf32>
// CHECK-NOT:     linalg
// CHECK:         return
func.func @shaped(%x: tensor<?x1x6x?xf32>) -> tensor<?x1x2x3x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?x1x6x?xf32>
  %m = tensor.dim %x, %c3 : tensor<?x1x6x?xf32>
  %init = tensor.splat %zero[%n, %m] : tensor<?x1x2x3x?xf32>
  %y = skript.formula assign (%i, %j, %k, %l) in (%n, 2, 3, %m) outs(%acc = %init : tensor<?x1x2x3x?xf32>) do {
    %p = skript.mul %j, %c3 : index
    %q = skript.add %p, %k : index
    %v = skript.access %x[%i, %c0, %q, %l] : tensor<?x1x6x?xf32>
    skript.yield %v at [%i, %c0, %j, %k, %l] : f32
  } : tensor<?x1x2x3x?xf32>
  return %y : tensor<?x1x2x3x?xf32>
}

// Two dynamic dimensions are exchanged: no reshape.
// CHECK-LABEL: func.func @turned
// CHECK-NOT:     _shape
// CHECK:         linalg.generic
// CHECK:         return
func.func @turned(%x: tensor<?x?x1xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x1xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x1xf32>
  %init = tensor.splat %zero[%m, %n] : tensor<?x?xf32>
  %y = skript.formula assign (%i, %j) in (%m, %n) outs(%acc = %init : tensor<?x?xf32>) do {
    %v = skript.access %x[%j, %i, %c0] : tensor<?x?x1xf32>
    skript.yield %v at [%i, %j] : f32
  } : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// From the third place on: no part of the extent, as that may be shorter.
// CHECK-LABEL: func.func @late
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.generic
// CHECK:           skript.select
// CHECK:         return
func.func @late(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) where {
    %two = arith.constant 2 : index
    %ok = skript.ge %i, %two : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Every second index is a slice, and indices in groups are a separate dimension.
// CHECK-LABEL: func.func @apart
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>
// CHECK:         tensor.insert_slice %[[X]] into %{{.+}}[0] [%{{.+}}] [2]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @apart(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = skript.mul %n, %c2 : index
  %init = tensor.splat %zero[%m] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    %p = skript.mul %i, %c2 : index
    skript.yield %v at [%p] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @groups
// CHECK:         %[[EMPTY:.+]] = tensor.empty(%{{.+}}) : tensor<?x4xf32>
// CHECK:         %[[Y:.+]] = linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<?x4xf32>)
// CHECK:         tensor.collapse_shape %{{.+}} {{\[\[}}0, 1]]
// CHECK-NOT:     tensor.insert_slice
// CHECK:         return
func.func @groups(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = skript.mul %n, %c4 : index
  %init = tensor.splat %zero[%m] : tensor<?xf32>
  %y = skript.formula assign (%i, %j) in (%n, 4) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    %p = skript.mul %i, %c4 : index
    %q = skript.add %p, %j : index
    skript.yield %v at [%q] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Behind a check that an extent keeps its bound, its clamp to the bound is the extent.
// CHECK-LABEL: func.func @clamped
// CHECK-SAME:    (%[[X:.+]]: tensor<?xf32>)
// CHECK-NOT:     tensor.{{extract|insert}}_slice
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
// CHECK:         return
func.func @clamped(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %keeps = skript.le %n, %c8 : index
  %clamped = arith.minsi %n, %c8 : index
  skript.check %keeps, "SK9204", "the extents differ"
  %init = tensor.splat %zero[%clamped] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%clamped) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    %e = skript.exp %v : f32
    skript.yield %e at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// The index before the first one is out of bounds: only the border is read.
// CHECK-LABEL: func.func @never
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic
// CHECK:         return
func.func @never(%x: tensor<?xf32>, %n: index, %c: i1) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c-1 = arith.constant -1 : index
  %init = tensor.splat %zero : tensor<1xf32>
  %y = skript.formula sum (%p) in (%n) outs(%acc = %init : tensor<1xf32>) do {
    %v = scf.if %c -> (f32) {
      %a = skript.access %x[%c-1] : tensor<?xf32>
      scf.yield %a : f32
    } else {
      scf.yield %zero : f32
    }
    skript.yield %v at [%c0] : f32
  } : tensor<1xf32>
  return %y : tensor<1xf32>
}

// A tile's loop goes through the whole part of the destination, whatever the reduced loop does.
// CHECK-LABEL: func.func @tile
// CHECK-SAME:    (%{{.+}}: tensor<?xf32>, %[[M:.+]]: index
// CHECK:         %[[PART:.+]] = tensor.extract_slice %{{.+}}[4] [%[[M]]] [1]
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic {{.*}} outs(%[[PART]] : tensor<?xf32>)
// CHECK:         return
func.func @tile(%b: tensor<?xf32>, %m: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %k = tensor.dim %b, %c0 : tensor<?xf32>
  %part = tensor.extract_slice %init[4] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %y = skript.formula sum (%i, %p) in (%m, %k) outs(%acc = %part : tensor<?xf32>) do {
    %v = skript.access %b[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}
