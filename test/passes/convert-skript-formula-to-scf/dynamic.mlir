// RUN: skript-opt %s --convert-skript-formula-to-scf | FileCheck %s

// Dynamic extents are the bounds of the loops and the size of the buffer.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?xf32>, %[[N:[^:]+]]: index
// CHECK:         %[[Y:.+]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK:         scf.for %{{.+}} = %{{.+}} to %[[N]] step
// CHECK:           memref.store %{{.+}}, %[[Y]]
func.func @dynamic(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero[%n] : tensor<?xf32>
  %y = skript.formula assign (%i) in (%n) outs(%acc = %init : tensor<?xf32>) do {
    %v = skript.access %x[%i] : tensor<?xf32>
    skript.yield %v at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A fill of linalg is known like a splat: the buffer is filled, nothing reads the tensor. A tensor that the filled one was made of
// has no say.
// CHECK-LABEL: func.func @filled
// CHECK-NOT:     bufferization.to_buffer
// CHECK-NOT:     memref.copy
// CHECK:         %[[FILLED:.+]] = memref.alloc(%{{.+}}) : memref<?xf32>
// CHECK:         memref.store %{{.+}}, %[[FILLED]]
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @filled(%old: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %two = arith.constant 2.0 : f32
  %init = linalg.fill ins(%two : f32) outs(%old : tensor<?xf32>) -> tensor<?xf32>
  %y = skript.formula sum (%i, %j) in (%n, 3) outs(%acc = %init : tensor<?xf32>) do {
    %one = arith.constant 1.0 : f32
    skript.yield %one at [%i] : f32
  } : tensor<?xf32>
  return %y : tensor<?xf32>
}
