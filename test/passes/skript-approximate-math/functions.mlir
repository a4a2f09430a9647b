// RUN: skript-opt %s --skript-approximate-math | FileCheck %s

// CHECK-LABEL: func.func @host
// CHECK:         math.sin
func.func @host(%x: f32) -> f32 {
  %r = math.sin %x : f32
  return %r : f32
}

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @functions
  // CHECK-NOT:     math.sin
  // CHECK-NOT:     math.atan2
  // CHECK-NOT:     llvm.intr.fmuladd
  // CHECK:         gpu.return
  gpu.func @functions(%x: f32, %y: f32, %z: memref<f32>) kernel {
    %a = math.sin %x : f32
    %b = math.atan2 %a, %y : f32
    %c = llvm.intr.fmuladd(%a, %b, %y) : (f32, f32, f32) -> f32
    memref.store %c, %z[] : memref<f32>
    gpu.return
  }
}
