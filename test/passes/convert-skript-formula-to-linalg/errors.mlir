// RUN: skript-opt %s --verify-diagnostics --split-input-file --convert-skript-formula-to-linalg

func.func @in_order(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has no linalg.generic: it runs in the order of its loops; lower it to scf}}
  %y = skript.formula replace (%i, %j) in (8, 8) outs(%acc = %init : tensor<8xf32>) do {
    %v = skript.access %x[%j] : tensor<8xf32>
    skript.yield %v at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @scatter(%x: tensor<8xf32>, %at: tensor<8xi64>, %init: tensor<9xf32>) -> tensor<9xf32> {
  // expected-error @+1 {{has no linalg.generic: it writes at subscripts that depend on data; lower it to scf}}
  %y = skript.formula sum (%i) in (8) outs(%acc = %init : tensor<9xf32>) do {
    %n = skript.access %at[%i] : tensor<8xi64>
    %p = skript.cast %n : i64 to index
    %v = skript.access %x[%i] : tensor<8xf32>
    skript.yield %v at [%p] : f32
  } : tensor<9xf32>
  return %y : tensor<9xf32>
}

// -----

// The written extent may differ from that of the loop.
func.func @unproven(%x: tensor<?xf32>, %n: index, %m: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{has no linalg.generic: it has accesses that are not proven in bounds: it skips points, and its loops run over dynamic dimensions; lower it to scf}}
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) where {
    %ok = skript.lt %i, %m : index
    skript.condition %ok
  } do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @beyond(%x: tensor<4xf32>, %init: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{has no linalg.generic: it writes a block that reaches beyond its output; lower it to scf}}
  %y = skript.formula sum (%i, %j) in (4, 2) outs(%acc = %init : tensor<6xf32>) where {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %d = skript.mul %i, %c2 : index
    %p = skript.add %d, %j : index
    %q = skript.sub %p, %c1 : index
    %lo = skript.ge %q, %c0 : index
    %hi = skript.lt %q, %c6 : index
    %ok = skript.and %lo, %hi : i1
    skript.condition %ok
  } do {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %d = skript.mul %i, %c2 : index
    %p = skript.add %d, %j : index
    %q = skript.sub %p, %c1 : index
    %v = skript.access %x[%i] : tensor<4xf32>
    skript.yield %v at [%q] : f32
  } : tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

func.func @encoded(%x: tensor<2x3xf32, "rows">, %init: tensor<6xf32, "rows">) -> tensor<6xf32, "rows"> {
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{has no linalg.generic: it changes the shape of a tensor whose type has an encoding; lower it to scf}}
  %y = skript.formula assign (%i, %j) in (2, 3) outs(%acc = %init : tensor<6xf32, "rows">) do {
    %v = skript.access %x[%i, %j] : tensor<2x3xf32, "rows">
    %p = skript.mul %i, %c3 : index
    %q = skript.add %p, %j : index
    skript.yield %v at [%q] : f32
  } : tensor<6xf32, "rows">
  return %y : tensor<6xf32, "rows">
}

// -----

// The first index that it writes is dynamic.
func.func @backwards(%x: tensor<?xf32>, %n: index, %init: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @+1 {{has no linalg.generic: it reverses a dynamic dimension; lower it to scf}}
  %y = skript.formula sum (%i) in (%n) outs(%acc = %init : tensor<16xf32>) do {
    %c15 = arith.constant 15 : index
    %p = skript.sub %c15, %i : index
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%p] : f32
  } : tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

// A sum of nothing writes nothing, however far the other loop goes: what the loops go through is no part of the output then.
func.func @empty(%b: tensor<?xf32>, %m: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %k = tensor.dim %b, %c0 : tensor<?xf32>
  // expected-error @+1 {{has no linalg.generic: it has accesses that are not proven in bounds: it reduces over a dynamic dimension that may be empty; lower it to scf}}
  %y = skript.formula sum (%i, %p) in (%m, %k) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %b[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Values are computed where they are used, and a call is not one of them.
func.func private @next(f32) -> f32
func.func @called(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has no linalg.generic: it has an operation with side effects, such as a call, which happen once in each step; lower it to scf}}
  %y = skript.formula assign (%i) in (8) outs(%acc = %init : tensor<8xf32>) do {
    %v = skript.access %x[%i] : tensor<8xf32>
    %w = func.call @next(%v) : (f32) -> f32
    skript.yield %w at [%i] : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}
