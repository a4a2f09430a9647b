// RUN: skript-translate %s --to-stablehlo | skript-opt | FileCheck %s

// CHECK:       func.func private @double_0(%[[X:.+]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    stablehlo.add %[[X]], %[[X]] : tensor<4xf32>
func.func private @double_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = skript.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[C:.+]]: tensor<i1>)
func.func @graph(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> attributes {skript.entry} {
  // CHECK: %[[D:.+]] = call @double_0(%[[X]])
  %d = skript.invoke @double_0(%x) operator "mine.double" : (tensor<4xf32>) -> tensor<4xf32>
  %b = tensor.extract %c[] : tensor<i1>
  // CHECK: %[[IF:.+]] = "stablehlo.if"(%[[C]]) ({
  // CHECK:   stablehlo.return %[[D]]
  // CHECK: }, {
  // CHECK:   stablehlo.return %[[X]]
  %e = scf.if %b -> tensor<4xf32> {
    scf.yield %d : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %one = arith.constant 1 : index
  // CHECK: %{{.+}}:2 = stablehlo.while(%[[N:.+]] = %{{.+}}, %[[Y:.+]] = %[[IF]]) : tensor<i64>, tensor<4xf32>
  // CHECK: stablehlo.compare LT, %[[N]], %{{.+}}, SIGNED
  %r:2 = scf.while (%n = %zero, %y = %e) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %more = arith.cmpi slt, %n, %three : index
    scf.condition(%more) %n, %y : index, tensor<4xf32>
  } do {
  ^bb0(%n: index, %y: tensor<4xf32>):
    %m = arith.addi %n, %one : index
    %half = arith.constant 0.5 : f32
    // CHECK: %[[HALF:.+]] = stablehlo.broadcast_in_dim %{{.+}}, dims = [] : (tensor<f32>) -> tensor<4xf32>
    // CHECK: stablehlo.multiply %{{.+}}, %[[HALF]]
    %z = skript.mul %y, %half : tensor<4xf32>, f32
    scf.yield %m, %z : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
