// RUN: skript-opt %s --skript-call-math-intrinsics | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @functions
  // CHECK:         llvm.call_intrinsic "llvm.sqrt.f32"
  // CHECK:         llvm.call_intrinsic "llvm.fma.f64"
  // CHECK:         %[[ROOT:.+]] = llvm.call_intrinsic "llvm.sqrt.f32"
  // CHECK:         arith.divf %{{.+}}, %[[ROOT]]
  // CHECK:         math.sin
  gpu.func @functions(%x: f32, %y: f64, %z: memref<f32>, %w: memref<f64>) kernel {
    %a = math.sqrt %x : f32
    memref.store %a, %z[] : memref<f32>
    %b = math.fma %y, %y, %y : f64
    memref.store %b, %w[] : memref<f64>
    %c = math.rsqrt %x : f32
    %d = math.sin %c : f32
    memref.store %d, %z[] : memref<f32>
    gpu.return
  }
}
