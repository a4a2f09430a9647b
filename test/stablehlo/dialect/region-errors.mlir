// RUN: skript-opt %s --split-input-file --verify-diagnostics
// Operations with bodies: one violation of every constraint.

func.func @reduce_c1(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c1: inputs must have one shape, but there are 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %r:2 = "stablehlo.reduce"(%x, %y, %i, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %s: tensor<f32>, %t: tensor<f32>):
    stablehlo.return %s, %t : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x8xf32>, %i: tensor<f64>) {
  // expected-error@+1 {{reduce_c2: element types differ}}
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c3: there must be as many results as inputs, of which there are 1 among 2 operands, but there are 2}}
  %r:2 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @reduce_c3_odd(%x: tensor<4xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c3: there must be as many initial values as inputs, but the operands are 3}}
  %r = "stablehlo.reduce"(%x, %x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_c3_none() {
  // expected-error@+1 {{reduce_c3: there are no inputs}}
  "stablehlo.reduce"() <{dimensions = array<i64: 0>}> ({
  ^bb0:
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @reduce_c4(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c4: `dimensions` is [-1], but must name dimensions from 0 to below 2}}
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: -1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c5(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c5: `dimensions` is [1, 1], but must name distinct dimensions: 1 comes twice}}
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c6(%x: tensor<4x8xf32>, %i: tensor<1xf32>) {
  // expected-error@+1 {{reduce_c6: an initial value must be a tensor without dimensions, but is 'tensor<1xf32>'}}
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c6_2(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c6: the body must return ('tensor<f32>'), but returns ()}}
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c7(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c7: the result is 'tensor<8xf32>', but its shape should be [4]}}
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_c8(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{reduce_c8: the body makes elements of 'f64', but result 0 is 'tensor<4xf32>'}}
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    stablehlo.return %q : tensor<f64>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_applies_subtract(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{`applies` takes a commutative operation of two operands such as stablehlo.add, not stablehlo.subtract}}
  %r = stablehlo.reduce(%x init: %i) applies stablehlo.subtract across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_applies_negate(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{`applies` takes a commutative operation of two operands such as stablehlo.add, not stablehlo.negate}}
  %r = stablehlo.reduce(%x init: %i) applies stablehlo.negate across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_applies_select(%x: tensor<4x8xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{`applies` takes a commutative operation of two operands such as stablehlo.add, not stablehlo.select}}
  %r = stablehlo.reduce(%x init: %i) applies stablehlo.select across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c1() {
  // expected-error@+1 {{sort_c1: there is nothing to sort}}
  "stablehlo.sort"() <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : () -> ()
  return
}

// -----

func.func @sort_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{sort_c2: inputs and results must have the same types, but are ('tensor<4xf32>') and ('tensor<5xf32>')}}
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @sort_c3(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{sort_c3: inputs must have one shape, but there are 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %r:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %s: tensor<f32>, %t: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @sort_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{sort_c4: there is no dimension 4 in 'tensor<4xf32>'}}
  %r = "stablehlo.sort"(%x) <{dimension = 4 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c4_2(%x: tensor<4xf32>) {
  // expected-error@+1 {{sort_c4: there is no dimension -2 in 'tensor<4xf32>'}}
  %r = "stablehlo.sort"(%x) <{dimension = -2 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c4_3(%x: tensor<f32>) {
  // expected-error@+1 {{sort_c4: there is no dimension 0 in 'tensor<f32>'}}
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @sort_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{sort_c5: the comparator must return ('tensor<i1>'), but returns ('tensor<f32>')}}
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %p : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sort_c5_2(%x: tensor<4xf32>) {
  // expected-error@+1 {{sort_c5: the comparator must take ('tensor<f32>', 'tensor<f32>'), but takes ('tensor<f32>')}}
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<f32>):
    %c = stablehlo.compare LT, %p, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @if_c1(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{if_c1: branch 0 must take nothing, but takes ('tensor<4xf32>')}}
  %r = "stablehlo.if"(%p) ({
  ^bb0(%q: tensor<4xf32>):
    stablehlo.return %q : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @if_c2(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{if_c2: branch 1 must return ('tensor<4xf32>'), but returns ('tensor<5xf32>')}}
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %y : tensor<5xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @if_c3(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{if_c3: branch 0 must return ('tensor<4xf32>'), but returns ('tensor<5xf32>')}}
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %y : tensor<5xf32>
  }, {
    stablehlo.return %y : tensor<5xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @if_condition(%p: tensor<1xi1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of pred values}}
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<1xi1>) -> tensor<4xf32>
  return
}

// -----

func.func @case_c1(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{case_c1: there is no branch}}
  %r = "stablehlo.case"(%i) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @case_c2(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{case_c2: branch 1 must take nothing}}
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
  ^bb0(%q: tensor<4xf32>):
    stablehlo.return %q : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @case_c3(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{case_c3: branch 1 must return ('tensor<4xf32>'), but returns ('tensor<5xf32>')}}
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %y : tensor<5xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @case_c4(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{case_c4: branch 0 must return ('tensor<4xf32>'), but returns ('tensor<5xf32>')}}
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %y : tensor<5xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @while_c1(%x: tensor<i32>) {
  // expected-error@+1 {{while_c1: the condition must return ('tensor<i1>'), but returns ('tensor<i32>')}}
  %r = stablehlo.while(%y = %x) : tensor<i32>
   cond {
    stablehlo.return %y : tensor<i32>
  } do {
    stablehlo.return %y : tensor<i32>
  }
  return
}

// -----

func.func @while_c1_2(%x: tensor<i32>) {
  // expected-error@+1 {{while_c1: the condition must return ('tensor<i1>'), but returns ()}}
  %r = stablehlo.while(%y = %x) : tensor<i32>
   cond {
    stablehlo.return
  } do {
    stablehlo.return %y : tensor<i32>
  }
  return
}

// -----

func.func @while_c2(%x: tensor<i32>) {
  // expected-error@+1 {{while_c2: the body must return ('tensor<i32>'), but returns ()}}
  %r = stablehlo.while(%y = %x) : tensor<i32>
   cond {
    %c = stablehlo.compare LT, %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// -----

func.func @while_c2_2(%x: tensor<i32>) {
  // expected-error@+1 {{while_c2: the body must return ('tensor<i32>'), but returns ('tensor<f32>')}}
  %r = stablehlo.while(%y = %x) : tensor<i32>
   cond {
    %c = stablehlo.compare LT, %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %z = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }
  return
}

// -----

func.func @while_c2_3(%x: tensor<i32>) {
  // expected-error@+1 {{while_c2: the body must end with stablehlo.return}}
  %r = stablehlo.while(%y = %x) : tensor<i32>
   cond {
    %c = stablehlo.compare LT, %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %z = stablehlo.constant dense<1.0> : tensor<f32>
  }
  return
}

// -----

func.func @while_c3(%x: tensor<i32>) {
  // expected-error@+1 {{while_c3: operands and results must have the same types, but are ('tensor<i32>') and ('tensor<i64>')}}
  %r = "stablehlo.while"(%x) ({
  ^bb0(%y: tensor<i32>):
    %c = stablehlo.compare LT, %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%y: tensor<i32>):
    stablehlo.return %y : tensor<i32>
  }) : (tensor<i32>) -> tensor<i64>
  return
}
