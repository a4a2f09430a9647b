// RUN: skript-opt %s --convert-skript-formula-to-scf | FileCheck %s

// A step writes two elements of a tensor: there is one buffer, both values are computed before the writes, and sums in sequence.
// CHECK-LABEL: func.func @places
// CHECK:         %[[Y:.+]] = memref.alloc() : memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for %[[I:.+]] =
// CHECK:           %[[P:.+]] = memref.load %[[Y]][%{{.+}}]
// CHECK:           %[[Q:.+]] = memref.load %[[Y]][%[[I]]]
// CHECK:           %[[S:.+]] = skript.add %{{.+}}, %[[P]] {accumulates}
// CHECK:           memref.store %[[S]], %[[Y]][%[[I]]]
// CHECK:           %[[O:.+]] = memref.load %[[Y]][%[[C:.+]]]
// CHECK:           %[[T:.+]] = skript.add %[[O]], %[[Q]] {accumulates}
// CHECK:           memref.store %[[T]], %[[Y]][%[[C]]]
// CHECK:         %[[R:.+]] = bufferization.to_tensor %[[Y]] restrict writable
// CHECK-NOT:     bufferization.to_tensor
// CHECK:         return %[[R]]
func.func @places(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y:2 = skript.formula sum (%i) in (8) outs(%acc = %x : tensor<8xf32>, %other = %x : tensor<8xf32>) attributes {skript.same_tensor = array<i32: 0, 0>} do {
    %c3 = arith.constant 3 : index
    %a = skript.access %acc[%c3] : tensor<8xf32>
    %b = skript.access %other[%i] : tensor<8xf32>
    skript.yield %a at [%i], %b at [%c3] : f32, f32
  } : tensor<8xf32>, tensor<8xf32>
  return %y#0 : tensor<8xf32>
}
