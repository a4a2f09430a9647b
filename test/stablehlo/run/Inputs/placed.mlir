module {
  sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[0, 1, 2, 3, 4, 5, 6, 7]>
  "sdy.mesh"() <{mesh = #sdy.mesh<["z"=2]>, sym_name = "other"}> : () -> ()
  func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.add %a, %a : tensor<4xf32> return %0 : tensor<4xf32> }
  func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<4xf32> {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x":(1)2, ?}p1], replicated={"y"}> : tensor<4xf32> loc("x":1:2)
    %1 = stablehlo.composite "my.op" %0 {composite_attributes = {k = 4 : i64}, decomposition = @f, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32> loc("y":3:4)
    %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<4xf32>
    %3 = "sdy.sharding_constraint"(%2) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "stablehlo.composite"(%3) <{decomposition = @f, name = "n"}> : (tensor<4xf32>) -> tensor<4xf32>
    return %4 : tensor<4xf32>
  }
}
