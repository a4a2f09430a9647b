// RUN: skript-opt %s --verify-diagnostics --convert-skript-formula-to-affine

func.func @gather(%x: tensor<9xf32>, %at: tensor<4xi64>, %init: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot become affine loops: it has subscripts that are not affine in its indices, because they depend on data}}
  %y = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %n = skript.access %at[%i] : tensor<4xi64>
    %p = skript.cast %n : i64 to index
    %v = skript.access %x[%p] : tensor<9xf32>
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A dimension of affine is a value of the function's own block.
func.func @inside(%c: i1, %n: index, %init: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %four = arith.constant 4 : index
    %m = arith.minsi %n, %four : index
    // expected-error @+1 {{cannot become affine loops: it runs over an extent that a branch or a loop computes; tile loops when they are affine, or lower it to scf}}
    %y = skript.formula assign (%i) in (%m) outs(%acc = %init : tensor<4xf32>) do {
      %v = skript.access %x[%i] : tensor<4xf32>
      skript.yield %v at [%i] : f32
    } : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %init : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Not even by parts.
func.func @product(%x: tensor<10xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{cannot become affine loops: it has subscripts that are not affine in its indices, or have too many pieces}}
  %y = skript.formula assign (%i, %j) in (4, 4) outs(%acc = %init : tensor<4x4xf32>) do {
    %p = skript.mul %i, %j : index
    %v = skript.access %x[%p] : tensor<10xf32>
    skript.yield %v at [%i, %j] : f32
  } : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// A tile: the turn of a loop of scf is no dimension of affine.
func.func @tile(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %n = %c0 to %c4 step %c2 iter_args(%all = %init) -> (tensor<4xf32>) {
    %part = tensor.extract_slice %all[%n] [2] [1] : tensor<4xf32> to tensor<2xf32>
    // expected-error @+1 {{cannot become affine loops: it has subscripts that use values which are not affine dimensions, such as indices of other loops; tile after the conversion to affine, or lower it to scf}}
    %y = skript.formula assign (%i) in (2) outs(%acc = %part : tensor<2xf32>) do {
      %p = skript.add %i, %n : index
      %v = skript.access %x[%p] : tensor<4xf32>
      skript.yield %v at [%i] : f32
    } : tensor<2xf32>
    %next = tensor.insert_slice %y into %all[%n] [2] [1] : tensor<2xf32> into tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Indices that are divided by a dynamic extent.
func.func @turned(%x: tensor<?xf32>, %n: index, %init: tensor<12xf32>) -> tensor<12xf32> {
  // expected-error @+1 {{cannot become affine loops: it has subscripts that divide by a value known only at run time, which affine maps do not support; lower it to scf}}
  %y = skript.formula assign (%i) in (12) outs(%acc = %init : tensor<12xf32>) do {
    %p = skript.mod %i, %n : index
    %v = skript.access %x[%p] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<12xf32>
  return %y : tensor<12xf32>
}

// -----

// A product that wraps is no affine form, though affine arithmetic would have one.
func.func @wraps(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<5xf32>
  // expected-error @+1 {{cannot become affine loops: it has subscripts that are not affine in its indices}}
  %y = skript.formula assign (%i) in (5) outs(%acc = %init : tensor<5xf32>) do {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %large = arith.constant 4611686018427387903 : index
    %p = skript.mul %i, %large : index
    %q = skript.min %p, %c4 : index
    %r = skript.max %q, %c0 : index
    %v = skript.access %x[%r] : tensor<5xf32>
    skript.yield %v at [%i] : f32
  } : tensor<5xf32>
  return %y : tensor<5xf32>
}
