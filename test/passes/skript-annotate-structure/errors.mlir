// RUN: skript-opt %s --verify-diagnostics --skript-annotate-structure

func.func @blocks(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{an operation in it has a region of several blocks, which lowerings do not support}}
  %y = skript.formula assign (%i) in (4) outs(%acc = %init : tensor<4xf32>) do {
    %v = scf.execute_region -> f32 {
      cf.br ^next
    ^next:
      %e = skript.access %x[%i] : tensor<4xf32>
      scf.yield %e : f32
    }
    skript.yield %v at [%i] : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
