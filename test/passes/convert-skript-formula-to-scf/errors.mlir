// RUN: skript-opt %s --verify-diagnostics --convert-skript-formula-to-scf

// Every formula that verifies becomes loops: nothing is refused. The near misses are formulas of no loop and of no point.
func.func @scalar(%x: tensor<f32>, %init: tensor<f32>) -> tensor<f32> {
  %y = skript.formula assign () in () outs(%acc = %init : tensor<f32>) do {
    %v = skript.access %x[] : tensor<f32>
    skript.yield %v at [] : f32
  } : tensor<f32>
  return %y : tensor<f32>
}
