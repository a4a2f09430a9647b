// RUN: skript-opt %s --split-input-file --verify-diagnostics --skript-drop-clamps

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
