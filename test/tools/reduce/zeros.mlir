// RUN: skript-reduce %s --leave-out="test=%S/interesting.sh" | FileCheck %s

// No value of the type is at hand: zeros stand in, of extent 1 where it is open.
// CHECK: func.func @zeros(%{{.*}}: tensor<4xf32>){{.*}}
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[ZEROS:.*]] = tensor.splat %{{.*}}[%[[ONE]]] : tensor<?xf32>
// CHECK: %{{.*}} = skript.tanh %[[ZEROS]] : tensor<?xf32>
func.func @zeros(%x: tensor<4xf32>) -> tensor<4xf32> {
  %shape = arith.constant dense<[4]> : tensor<1xindex>
  %0 = tensor.reshape %x(%shape) : (tensor<4xf32>, tensor<1xindex>) -> tensor<?xf32>
  %1 = skript.tanh %0 : tensor<?xf32>
  %2 = tensor.reshape %1(%shape) : (tensor<?xf32>, tensor<1xindex>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
