// RUN: skript-opt %s --convert-skript-formula-to-scf | FileCheck %s

// Extents known only at run time bound the loops and size the buffer.
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
