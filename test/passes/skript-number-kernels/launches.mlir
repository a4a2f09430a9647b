// RUN: skript-opt %s --skript-number-kernels --mlir-print-debuginfo | FileCheck %s

// Each launch is a step; the table has its kernel, and the operators that the kernel computes.
// CHECK: skript.profile = [{kernel = "kernel_0", operators = {{\[\[}}"a.sknd:1:2: nn.relu", "b.sknd:3:4: main.G"]
// CHECK-SAME: kernel = "kernel_1"
// CHECK-LABEL: func.func @main
// The array of 16 bytes is read and written.
// CHECK: %[[BYTES:.*]] = arith.addi
// CHECK: call @skript_profile(%{{.*}}, %{{.*}}, %[[BYTES]])
// CHECK-NEXT: gpu.launch_func {{ *}}@kernels::@kernel_0
// CHECK-NEXT: call @skript_profile(%[[ZERO:.*]], %[[ZERO]], %[[ZERO]])
// CHECK: scf.for
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: call @skript_profile(%[[TWO]]
// CHECK-NEXT: gpu.launch_func {{ *}}@kernels::@kernel_1
// CHECK-NEXT: call @skript_profile(
// CHECK: func.func private @skript_profile(index, index, index)
module attributes {gpu.container_module} {
  func.func @main(%x: memref<16xi8>) attributes {skript.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @kernels::@kernel_0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<16xi8>)
    scf.for %i = %c0 to %c4 step %c1 {
      gpu.launch_func @kernels::@kernel_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<16xi8>)
    }
    return
  }
  gpu.module @kernels {
    gpu.func @kernel_0(%x: memref<16xi8>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %y = memref.view %x[%c0][] : memref<16xi8> to memref<4xf32>
      %v = memref.load %y[%c0] : memref<4xf32>
      %w = arith.addf %v, %one : f32 loc(callsite("nn.relu"("a.sknd":9:9) at callsite("nn.relu"("a.sknd":1:2) at "main.G"("b.sknd":3:4))))
      memref.store %w, %y[%c0] : memref<4xf32>
      gpu.return
    }
    gpu.func @kernel_1(%x: memref<16xi8>) kernel {
      gpu.return
    }
  }
}
