// RUN: skript-opt %s --convert-skript-elementwise-to-formula | FileCheck %s

// CHECK-LABEL: func.func @varying
// CHECK:         %[[N:.+]] = tensor.dim
// CHECK:         skript.formula assign (%{{.+}}) in (%[[N]])
func.func @varying(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = skript.neg %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
