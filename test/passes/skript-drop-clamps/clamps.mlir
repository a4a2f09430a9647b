// RUN: skript-opt %s --split-input-file --skript-drop-clamps --verify-roundtrip | FileCheck %s

// A check says that two extents are equal: an index below one of them is a place of the other tensor, which has elements.
// CHECK-LABEL: func.func @sum
// CHECK:         skript.formula assign (%[[I:.+]]) in
// CHECK-NEXT:      %[[A:.+]] = skript.access %{{.+}}[%[[I]]]
// CHECK-NOT:       scf.if
// CHECK:           %[[B:.+]] = skript.access %{{.+}}[%[[I]]]
// CHECK:           skript.add %[[A]], %[[B]]
func.func @sum(%a: tensor<?xf32> {skript.bounds = array<i64: 4>}, %b: tensor<?xf32> {skript.bounds = array<i64: 4>}) -> tensor<?xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c4 : index
  %e = tensor.dim %b, %c0 : tensor<?xf32>
  %m = arith.minsi %e, %c4 : index
  %same = skript.eq %n, %m : index
  skript.check %same, "SK9204", "the extents differ"
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %a[%i] : tensor<?xf32>
    %some = skript.gt %m, %c0 : index
    %w = scf.if %some -> (f32) {
      %last = skript.sub %m, %c1 : index
      %j = skript.min %i, %last : index
      %u = skript.access %b[%j] : tensor<?xf32>
      scf.yield %u : f32
    } else {
      scf.yield %zero : f32
    }
    %s = skript.add %v, %w : f32
    skript.yield %s at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Nothing says so here: the clamp and the condition stay. In the branch there is an element, so no place is below the first.
// CHECK-LABEL: func.func @unchecked
// CHECK:         skript.formula
// CHECK:           scf.if
// CHECK:             skript.min
// CHECK-NOT:         skript.max
// CHECK:             skript.access
func.func @unchecked(%a: tensor<?xf32> {skript.bounds = array<i64: 4>}, %b: tensor<?xf32> {skript.bounds = array<i64: 4>}) -> tensor<?xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c4 : index
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %some = skript.gt %m, %c0 : index
    %w = scf.if %some -> (f32) {
      %last = skript.sub %m, %c1 : index
      %j = skript.min %i, %last : index
      %k = skript.max %j, %c0 : index
      %u = skript.access %b[%k] : tensor<?xf32>
      scf.yield %u : f32
    } else {
      scf.yield %zero : f32
    }
    skript.yield %w at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A check in a branch says nothing behind it.
// CHECK-LABEL: func.func @branch
// CHECK:         skript.formula
// CHECK:           skript.min
func.func @branch(%a: tensor<?xf32> {skript.bounds = array<i64: 4>}, %b: tensor<?xf32> {skript.bounds = array<i64: 4>}, %c: i1) -> tensor<?xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c4 : index
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  scf.if %c {
    %same = skript.eq %d, %m : index
    skript.check %same, "SK9204", "the extents differ"
  }
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %last = skript.sub %m, %c1 : index
    %j = skript.min %i, %last : index
    %u = skript.access %b[%j] : tensor<?xf32>
    skript.yield %u at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A remaining term of a disjunction: the loop has points, so n is less than m, where m has elements.
// CHECK-LABEL: func.func @alternatives
// CHECK:         skript.formula
// CHECK:           scf.if
// CHECK-NOT:         skript.min
// CHECK:             skript.access
func.func @alternatives(%a: tensor<?xf32> {skript.bounds = array<i64: 4>}, %b: tensor<?xf32> {skript.bounds = array<i64: 6>}) -> tensor<?xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c4 : index
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  %none = skript.le %m, %c0 : index
  %empty = skript.le %d, %c0 : index
  %below = skript.le %d, %m : index
  %some = skript.or %empty, %below : i1
  %any = skript.or %none, %some : i1
  skript.check %any, "SK9204", "the extents differ"
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %filled = skript.gt %m, %c0 : index
    %w = scf.if %filled -> (f32) {
      %last = skript.sub %m, %c1 : index
      %j = skript.min %i, %last : index
      %u = skript.access %b[%j] : tensor<?xf32>
      scf.yield %u : f32
    } else {
      scf.yield %zero : f32
    }
    skript.yield %w at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Of a conjunction what need not hold by itself; an index of one value is zero.
// CHECK-LABEL: func.func @conjunction
// CHECK:         skript.formula sum (%{{.+}}, %[[J:.+]]) in (1, %{{.+}})
// CHECK:           %[[V:.+]] = skript.access %{{.+}}[%[[J]]]
// CHECK:           %[[POSITIVE:.+]] = skript.gt %[[V]]
// CHECK-NEXT:      skript.condition %[[POSITIVE]]
// CHECK:           skript.access %{{.+}}[%[[J]]]
func.func @conjunction(%a: tensor<?xf32> {skript.bounds = array<i64: 4>}) -> tensor<f32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c4 : index
  %init = tensor.splat %zero : tensor<f32>
  %y = skript.formula sum (%i, %j) in (1, %n) outs(%acc = %init : tensor<f32>) where {
    %inside = skript.lt %j, %d : index
    %v = skript.access %a[%j] : tensor<?xf32>
    %positive = skript.gt %v, %zero : f32
    %both = skript.and %inside, %positive : i1
    skript.condition %both
  } do {
    %row = skript.mul %i, %n : index
    %place = skript.add %row, %j : index
    %v = skript.access %a[%place] : tensor<?xf32>
    skript.yield %v at [] : f32
  } : tensor<f32>
  return %y : tensor<f32>
}

// -----

// A position that a formula moves is one of those it is moved to, or the one it began with.
// CHECK-LABEL: func.func @moved
// CHECK:         skript.formula replace (%[[I:.+]]) in
// CHECK:           %[[P:.+]] = skript.access %{{.+}}[]
// CHECK:           %[[AT:.+]] = skript.cast %[[P]]
// CHECK-NEXT:      skript.access %{{.+}}[%[[AT]]]
// CHECK:         skript.formula replace
// CHECK:           skript.min
// CHECK:           skript.max
func.func @moved(%a: tensor<?xf32> {skript.bounds = array<i64: 4>}, %k: tensor<i64>) -> (tensor<i64>, tensor<i64>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.minsi %d, %c4 : index
  %last = arith.subi %n, %c1 : index
  %init = tensor.splat %zero : tensor<i64>
  %y = skript.formula replace (%i) in (%n) outs(%acc = %init : tensor<i64>) where {
    %back = skript.sub %last, %i : index
    %new = skript.access %a[%back] : tensor<?xf32>
    %p = skript.access %acc[] : tensor<i64>
    %at = skript.cast %p : i64 to index
    %below = skript.min %at, %last : index
    %inside = skript.max %below, %c0 : index
    %best = skript.access %a[%inside] : tensor<?xf32>
    %better = skript.lt %new, %best : f32
    skript.condition %better
  } do {
    %back = skript.sub %last, %i : index
    %v = skript.cast %back : index to i64
    skript.yield %v at [] : i64
  } : tensor<i64>
  // Its initial value is arbitrary.
  %z = skript.formula replace (%i) in (%n) outs(%acc = %k : tensor<i64>) where {
    %new = skript.access %a[%i] : tensor<?xf32>
    %p = skript.access %acc[] : tensor<i64>
    %at = skript.cast %p : i64 to index
    %below = skript.min %at, %last : index
    %inside = skript.max %below, %c0 : index
    %best = skript.access %a[%inside] : tensor<?xf32>
    %better = skript.lt %new, %best : f32
    skript.condition %better
  } do {
    %v = skript.cast %i : index to i64
    skript.yield %v at [] : i64
  } : tensor<i64>
  return %y, %z : tensor<i64>, tensor<i64>
}

// -----

// 2^62 times an index wraps: nobody knows its sign.
// CHECK-LABEL: func.func @wraps
// CHECK:         skript.formula
// CHECK:           %[[P:.+]] = skript.mul
// CHECK:           skript.ge %[[P]]
// CHECK:           skript.condition
func.func @wraps(%x: tensor<?xf32> {skript.bounds = array<i64: 8>}, %init: tensor<1xf32>) -> tensor<1xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %large = arith.constant 4611686018427387904 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = skript.formula sum (%i) in (%n) outs(%acc = %init : tensor<1xf32>) where {
    %p = skript.mul %i, %large : index
    %ok = skript.ge %p, %c0 : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%c0] : f32
  } : tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// A condition that never holds selects the other branch; so does an inequality of equal indices.
// CHECK-LABEL: func.func @never
// CHECK:         skript.formula assign (%[[I:.+]]) in
// CHECK-NOT:       scf.if
// CHECK:           %[[A:.+]] = skript.access %{{.+}}[%[[I]]]
// CHECK:           %[[FALSE:.+]] = arith.constant false
// CHECK:           skript.select %[[FALSE]], %{{.+}}, %[[A]]
func.func @never(%x: tensor<8xf32>) -> tensor<8xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<8xf32>
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) do {
    %beyond = skript.ge %i, %c8 : index
    %v = scf.if %beyond -> (f32) {
      scf.yield %zero : f32
    } else {
      %a = skript.access %x[%i] : tensor<8xf32>
      scf.yield %a : f32
    }
    %same = skript.add %i, %c0 : index
    %differs = skript.ne %i, %same : index
    %w = skript.select %differs, %zero, %v : f32
    skript.yield %w at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
