func.func @counted(%x: tensor<5xf32>) -> (tensor<3xf32>, tensor<i64>) attributes {skript.entry} {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %init = tensor.splat %zero : tensor<3xf32>
  %start = tensor.splat %none : tensor<i64>
  %y:2 = skript.formula replace (%i) in (5)
      outs(%acc = %init : tensor<3xf32>, %count = %start : tensor<i64>) where {
    %a = skript.access %x[%i] : tensor<5xf32>
    %positive = skript.gt %a, %zero : f32
    skript.condition %positive
  } do {
    %c1 = arith.constant 1 : index
    %a = skript.access %x[%i] : tensor<5xf32>
    %n = skript.access %count[] : tensor<i64>
    %at = skript.cast %n : i64 to index
    %next = skript.add %at, %c1 : index
    %m = skript.cast %next : index to i64
    skript.yield %a at [%at], %m at [] : f32, i64
  } : tensor<3xf32>, tensor<i64>
  return %y#0, %y#1 : tensor<3xf32>, tensor<i64>
}
