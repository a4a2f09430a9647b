// RUN: skript-opt %s --split-input-file --verify-diagnostics --skript-pad-extents

// expected-error @below {{states no bounds of argument 0}}
func.func @unstated(%x: tensor<?xf32>) -> tensor<?xf32> attributes {skript.entry} {
  return %x : tensor<?xf32>
}

// -----

func.func @unbounded(%n: index) -> tensor<?xf32> attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{has an extent without a bound}}
  %x = tensor.splat %zero[%n] : tensor<?xf32>
  return %x : tensor<?xf32>
}

// -----

func.func @beyond(%x: tensor<?xf32> {skript.bounds = array<i64: 4>}) -> tensor<5xf32> attributes {skript.entry} {
  // expected-error @below {{has more elements than its source}}
  %y = tensor.extract_slice %x[0] [5] [1] : tensor<?xf32> to tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

func.func @strided(%x: tensor<?xf32> {skript.bounds = array<i64: 4>}) -> tensor<2xf32> attributes {skript.entry} {
  // expected-error @below {{has no form on tensors padded to their bounds}}
  %y = tensor.extract_slice %x[0] [2] [2] : tensor<?xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-error @below {{has a tensor that grows without a bound}}
func.func @grows(%x: tensor<?xf32> {skript.bounds = array<i64: 4>}) -> tensor<?xf32> attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %y = scf.while (%t = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    %n = tensor.dim %t, %c0 : tensor<?xf32>
    %more = skript.lt %n, %n : index
    scf.condition(%more) %t : tensor<?xf32>
  } do {
  ^bb0(%t: tensor<?xf32>):
    %n = tensor.dim %t, %c0 : tensor<?xf32>
    %m = arith.addi %n, %c1 : index
    %u = tensor.splat %zero[%m] : tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
