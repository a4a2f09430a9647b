// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-write-carried{apart=true})' | FileCheck %s
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-write-carried{apart=true},eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries})' -o /dev/null
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-write-carried,eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries})' 2>&1 | FileCheck %s --check-prefix=ELSE
// RUN: skript-opt %s --pass-pipeline='builtin.module(skript-write-carried{apart=if-refused})' | FileCheck %s
// RUN: skript-opt %s --skript-bufferize | FileCheck %s --check-prefix=BUFFERS

// A fill that one arm hands on and the other one carries further. Both arms, and each turn, hand on copies.
// ELSE: cannot avoid RaW conflict
// BUFFERS-LABEL: func.func @fills
// BUFFERS: scf.while
// BUFFERS-LABEL: func.func @choice
// BUFFERS-NOT: tensor<
// CHECK-LABEL: func.func @fills
// CHECK:         %[[A:.+]] = bufferization.alloc_tensor() copy(%{{.+}})
// CHECK:         scf.while (%{{.+}} = %[[A]]
// CHECK:           scf.condition
// CHECK:         } do {
// CHECK:         ^bb0(%[[X:[^:]+]]: tensor<4xf32>, %[[Y:[^:]+]]: tensor<4xf32>
// CHECK:           %[[R:.+]]:2 = scf.if
// CHECK:             %[[ONE:.+]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK:             %[[OTHER:.+]] = bufferization.alloc_tensor() copy(
// CHECK:             scf.yield %[[ONE]], %[[OTHER]]
// CHECK:           %[[P:.+]] = bufferization.alloc_tensor() copy(%[[R]]#0)
// CHECK:           %[[Q:.+]] = bufferization.alloc_tensor() copy(%[[R]]#1)
// CHECK:           bufferization.materialize_in_destination %[[P]] in %[[X]]
// CHECK:           bufferization.materialize_in_destination %[[Q]] in %[[Y]]
func.func @fills(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: i32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<4xf32>
  %halves = linalg.fill ins(%half : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r:3 = scf.while (%x = %a, %y = %b, %i = %c0) : (tensor<4xf32>, tensor<4xf32>, i32) -> (tensor<4xf32>, tensor<4xf32>, i32) {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %x, %y, %i : tensor<4xf32>, tensor<4xf32>, i32
  } do {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: i32):
    %first = arith.cmpi eq, %i, %c0 : i32
    %f = linalg.fill ins(%half : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s:2 = scf.if %first -> (tensor<4xf32>, tensor<4xf32>) {
      scf.yield %x, %f : tensor<4xf32>, tensor<4xf32>
    } else {
      scf.yield %f, %f : tensor<4xf32>, tensor<4xf32>
    }
    %next = arith.addi %i, %c1 : i32
    scf.yield %s#0, %s#1, %next : tensor<4xf32>, tensor<4xf32>, i32
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// Of two tensors one is chosen without a branch.
// CHECK-LABEL: func.func @choice
// CHECK:         %[[C:.+]] = bufferization.alloc_tensor() copy(%{{.+}})
// CHECK:         %[[D:.+]] = bufferization.alloc_tensor() copy(%{{.+}})
// CHECK:         arith.select %{{.+}}, %[[C]], %[[D]] : tensor<4xf32>
func.func @choice(%a: tensor<4xf32>, %b: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %r = arith.select %p, %a, %b : tensor<4xf32>
  return %r : tensor<4xf32>
}
