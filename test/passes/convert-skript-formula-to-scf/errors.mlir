// RUN: skript-opt %s --verify-diagnostics --convert-skript-formula-to-scf

func.func @dynamic(%x: tensor<?xf32>, %n: index, %init: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{cannot become scf loops: extents that are known only at run time are not lowered yet}}
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}
