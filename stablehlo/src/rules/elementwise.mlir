func.func @negated(%x: tensor<4xf32>) -> tensor<4xf32> attributes {skript.entry} {
  %y = skript.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
