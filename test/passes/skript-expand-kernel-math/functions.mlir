// RUN: skript-opt %s --skript-expand-kernel-math | FileCheck %s

// What is not in a kernel stays.
// CHECK-LABEL: func.func @host
// CHECK:         math.powf
func.func @host(%x: f32) -> f32 {
  %r = math.powf %x, %x : f32
  return %r : f32
}

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @power
  // CHECK:         math.log
  // CHECK:         math.exp
  // CHECK-NOT:     math.powf
  gpu.func @power(%x: f32, %y: f32, %z: memref<f32>) kernel {
    %r = math.powf %x, %y : f32
    memref.store %r, %z[] : memref<f32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @remainder
  // CHECK:         scf.for
  // CHECK:           arith.remui
  // CHECK-NOT:     arith.remf
  gpu.func @remainder(%x: f32, %y: f32, %z: memref<f32>) kernel {
    %r = arith.remf %x, %y : f32
    memref.store %r, %z[] : memref<f32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @whole
  // CHECK:         math.floor
  // CHECK:         math.ceil
  // CHECK:         scf.for
  // CHECK-NOT:     math.ipowi
  gpu.func @whole(%x: f32, %n: i64, %z: memref<f32>, %w: memref<i64>) kernel {
    %r = math.trunc %x : f32
    memref.store %r, %z[] : memref<f32>
    %p = math.ipowi %n, %n : i64
    memref.store %p, %w[] : memref<i64>
    gpu.return
  }
}
