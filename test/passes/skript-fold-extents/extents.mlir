// RUN: skript-opt %s --split-input-file --skript-fold-extents --verify-roundtrip | FileCheck %s

// Three operators behind each other: what the second and the third bound is bounded already, and no tensor is asked for the
// extent that it was made with.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[D:.+]] = tensor.dim %arg0
// CHECK-NEXT:    %[[N:.+]] = arith.minsi %[[D]], %c64
// CHECK-NEXT:    %[[S:.+]] = tensor.splat %{{.+}}[%[[N]]]
// CHECK-NEXT:    %[[F:.+]] = skript.formula assign (%{{.+}}) in (%[[N]]) outs(%{{.+}} = %[[S]]
// CHECK-NOT:     arith.maxsi
// CHECK-NOT:     tensor.dim
// CHECK:         tensor.empty(%[[N]])
func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %a = arith.maxsi %d, %c0 : index
  %n = arith.minsi %a, %c64 : index
  %b = arith.maxsi %n, %c0 : index
  %m = arith.minsi %b, %c64 : index
  %splat = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%m) outs(%acc = %splat : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  %e = tensor.dim %y, %c0 : tensor<?xf32>
  %f = arith.maxsi %e, %c0 : index
  %g = arith.minsi %f, %c64 : index
  %z = tensor.empty(%g) : tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// Clamps that can change their operand stay: a smaller bound, and a difference that may be negative. A sum of bounded numbers
// needs none; a difference is bounded for whoever looks for it by its clamp.
// CHECK-LABEL: func.func @clamps
// CHECK:         %[[N:.+]] = arith.minsi %{{.+}}, %c64
// CHECK-NEXT:    %[[M:.+]] = arith.minsi %[[N]], %c32
// CHECK-NEXT:    %[[L:.+]] = arith.subi %[[M]], %c1
// CHECK-NEXT:    %[[K:.+]] = arith.maxsi %[[L]], %c0
// CHECK-NEXT:    %[[P:.+]] = arith.addi %[[M]], %[[M]]
// CHECK-NEXT:    %[[R:.+]] = arith.minsi %[[K]], %c64
// CHECK-NEXT:    return %[[P]], %[[R]]
func.func @clamps(%x: tensor<?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c64 : index
  %m = arith.minsi %n, %c32 : index
  %l = arith.subi %m, %c1 : index
  %k = arith.maxsi %l, %c0 : index
  %p = arith.addi %m, %m : index
  %q = arith.minsi %p, %c64 : index
  %r = arith.minsi %k, %c64 : index
  return %q, %r : index, index
}

// -----

// Both regions compute a tensor with the known extent; one region of the second branch computes a longer one.
// CHECK-LABEL: func.func @branch
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index
// CHECK:         scf.if
// CHECK:         %[[B:.+]] = scf.if
// CHECK:         %[[D:.+]] = tensor.dim %[[B]]
// CHECK-NEXT:    return %[[N]], %[[D]]
func.func @branch(%n: index, %c: i1) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = scf.if %c -> tensor<?xf32> {
    %t = tensor.empty(%n) : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  } else {
    %t = tensor.empty(%n) : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  }
  %b = scf.if %c -> tensor<?xf32> {
    %t = tensor.empty(%n) : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  } else {
    %m = arith.addi %n, %c1 : index
    %t = tensor.empty(%m) : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  }
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.dim %b, %c0 : tensor<?xf32>
  return %d, %e : index, index
}

// -----

// The first tensor keeps its extent in each step; the extent of the second one, which grows, is unknown, also inside of the loop.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index
// CHECK:         %[[L:.+]]:2 = scf.for {{.+}} iter_args(%{{.+}} = %{{.+}}, %[[T:.+]] = %{{.+}})
// CHECK:           %[[E:.+]] = tensor.dim %[[T]]
// CHECK-NEXT:      %[[M:.+]] = arith.addi %[[E]]
// CHECK-NEXT:      tensor.empty(%[[N]])
// CHECK-NEXT:      tensor.empty(%[[M]])
// CHECK:         %[[D:.+]] = tensor.dim %[[L]]#1
// CHECK-NEXT:    return %[[N]], %[[D]]
func.func @loop(%n: index, %count: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.empty(%n) : tensor<?xf32>
  %l:2 = scf.for %k = %c0 to %count step %c1 iter_args(%a = %s, %b = %s) -> (tensor<?xf32>, tensor<?xf32>) {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.dim %b, %c0 : tensor<?xf32>
    %m = arith.addi %e, %c1 : index
    %t = tensor.empty(%d) : tensor<?xf32>
    %u = tensor.empty(%m) : tensor<?xf32>
    scf.yield %t, %u : tensor<?xf32>, tensor<?xf32>
  }
  %d = tensor.dim %l#0, %c0 : tensor<?xf32>
  %e = tensor.dim %l#1, %c0 : tensor<?xf32>
  return %d, %e : index, index
}

// -----

// The condition passes its operands on in another order.
// CHECK-LABEL: func.func @while
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
// CHECK:         scf.while
// CHECK:         return %[[M]], %[[N]]
func.func @while(%n: index, %m: index, %c: i1) -> (index, index) {
  %c0 = arith.constant 0 : index
  %s = tensor.empty(%n) : tensor<?xf32>
  %t = tensor.empty(%m) : tensor<?xf32>
  %l:2 = scf.while (%a = %s, %b = %t) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    scf.condition(%c) %b, %a : tensor<?xf32>, tensor<?xf32>
  } do {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    scf.yield %b, %a : tensor<?xf32>, tensor<?xf32>
  }
  %d = tensor.dim %l#0, %c0 : tensor<?xf32>
  %e = tensor.dim %l#1, %c0 : tensor<?xf32>
  return %d, %e : index, index
}

// -----

// Each arm bounds the extent of what the branch before made: both compute it once, before the branch, and so have the same.
// CHECK-LABEL: func.func @arms
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32>
// CHECK:         %[[D:.+]] = tensor.dim %[[X]]
// CHECK-NEXT:    %[[N:.+]] = arith.minsi %[[D]], %c64
// CHECK-NEXT:    %[[L:.+]] = arith.addi %[[N]], %c1
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      tensor.empty(%[[L]])
// CHECK:         else
// CHECK-NEXT:      tensor.empty(%[[L]])
// CHECK:         return %[[L]]
func.func @arms(%x: tensor<?xf32>, %c: i1) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = scf.if %c -> tensor<?xf32> {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %n = arith.minsi %d, %c64 : index
    %l = arith.addi %n, %c1 : index
    %t = tensor.empty(%l) : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  } else {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %n = arith.minsi %d, %c64 : index
    %l = arith.addi %n, %c1 : index
    %t = tensor.empty(%l) : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  }
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  return %d : index
}

// -----

// Values that a loop computes from its counter or from a growing tensor remain in it.
// CHECK-LABEL: func.func @kept
// CHECK:         %[[T:.+]] = tensor.empty
// CHECK:         scf.for %[[K:.+]] = %{{.+}} iter_args(%[[A:.+]] = %[[T]])
// CHECK-NEXT:      %[[D:.+]] = tensor.dim %[[A]]
// CHECK-NEXT:      %[[M:.+]] = arith.minsi %[[D]], %c64
// CHECK-NEXT:      %[[N:.+]] = arith.addi %[[M]], %[[K]]
// CHECK-NEXT:      tensor.empty(%[[N]])
func.func @kept(%n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %s = tensor.empty(%n) : tensor<?xf32>
  %l = scf.for %k = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<?xf32> {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %m = arith.minsi %d, %c64 : index
    %e = arith.addi %m, %k : index
    %t = tensor.empty(%e) : tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  }
  return %l : tensor<?xf32>
}

// -----

// A sum of a bounded number and one without a bound has none, and one that leaves the integers is anything: both keep their clamps.
// CHECK-LABEL: func.func @sums
// CHECK:         arith.minsi
// CHECK:         arith.addi
// CHECK:         arith.minsi
// CHECK:         arith.addi
// CHECK:         arith.maxsi
// CHECK:         return
func.func @sums(%n: index, %x: tensor<?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.minsi %d, %c64 : index
  %s = arith.addi %m, %n : index
  %a = arith.minsi %s, %c128 : index
  %e = arith.addi %d, %d : index
  %b = arith.maxsi %e, %c0 : index
  return %a, %b : index, index
}

// -----

// A tensor that is one of two has the extents of either.
// CHECK-LABEL: func.func @selected
// CHECK:         %[[S:.+]] = arith.select
// CHECK-NEXT:    %[[D:.+]] = tensor.dim %[[S]]
// CHECK-NEXT:    return %[[D]]
func.func @selected(%n: index, %m: index, %p: i1) -> index {
  %c0 = arith.constant 0 : index
  %a = tensor.empty(%n) : tensor<?xf32>
  %b = tensor.empty(%m) : tensor<?xf32>
  %s = arith.select %p, %a, %b : tensor<?xf32>
  %d = tensor.dim %s, %c0 : tensor<?xf32>
  return %d : index
}

// -----

// The extents of a matrix, of a part of it and of its rows are those that they are created with.
// CHECK-LABEL: func.func @views
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
// CHECK-NOT:     tensor.dim
// CHECK:         return %[[M]], %[[N]], %[[M]]
func.func @views(%n: index, %m: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.empty(%n, %m) : tensor<?x?xf32>
  %b = tensor.extract_slice %a[0, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
  %c = tensor.expand_shape %a [[0, 1], [2]] output_shape [1, %n, %m] : tensor<?x?xf32> into tensor<1x?x?xf32>
  %d = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.dim %b, %c0 : tensor<?xf32>
  %c2 = arith.constant 2 : index
  %f = tensor.dim %c, %c2 : tensor<1x?x?xf32>
  return %d, %e, %f : index, index, index
}
