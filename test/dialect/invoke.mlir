// RUN: skript-opt %s | skript-opt | FileCheck %s
// RUN: skript-opt %s --verify-roundtrip -o /dev/null
// RUN: skript-opt %s --inline --symbol-dce | FileCheck %s --check-prefix=INLINED

// CHECK-LABEL: func @main
// CHECK-SAME: {skript.name = "x", skript.role = "input"}
// INLINED-LABEL: func @main
func.func @main(%x: tensor<4xf32> {skript.name = "x", skript.role = "input"})
    -> (tensor<4xf32> {skript.name = "y"}) attributes {skript.entry} {
  // CHECK: skript.invoke @twice(%{{.*}}) operator "math.scale" {factor = [2, 2], mode = "exact"} : (tensor<4xf32>) -> tensor<4xf32>
  // INLINED-NOT: skript.invoke
  // INLINED: skript.add
  // INLINED-NEXT: skript.add
  // INLINED-NEXT: return
  %0 = skript.invoke @twice(%x) operator "math.scale" {factor = [2, 2], mode = "exact"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: skript.invoke @twice(%{{.*}}) operator "math.scale" : (tensor<4xf32>) -> tensor<4xf32>
  %1 = skript.invoke @twice(%0) operator "math.scale" : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// INLINED-NOT: @twice
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
