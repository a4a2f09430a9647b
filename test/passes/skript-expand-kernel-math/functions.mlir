// RUN: skript-opt %s --skript-expand-kernel-math | FileCheck %s

// Operations outside of kernels are kept.
// CHECK-LABEL: func.func @host
// CHECK:         arith.remf
func.func @host(%x: f32) -> f32 {
  %r = arith.remf %x, %x : f32
  return %r : f32
}

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @remainder
  // CHECK:         scf.for
  // CHECK:           arith.remui
  // CHECK:         scf.for
  // CHECK-NOT:     arith.remf
  gpu.func @remainder(%x: f32, %y: f32, %d: f64, %z: memref<f32>, %w: memref<f64>) kernel {
    %r = arith.remf %x, %y : f32
    memref.store %r, %z[] : memref<f32>
    %s = arith.remf %d, %d : f64
    memref.store %s, %w[] : memref<f64>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @whole
  // CHECK:         math.floor
  // CHECK:         math.ceil
  // CHECK:         scf.for
  // CHECK-NOT:     math.ipowi
  // CHECK:         %[[Q:.+]] = arith.divsi %[[A:.+]], %[[B:.+]] : index
  // CHECK:         %[[P:.+]] = arith.muli %[[Q]], %[[B]] : index
  // CHECK:         arith.subi %[[A]], %[[P]] : index
  gpu.func @whole(%x: f32, %n: i64, %a: index, %b: index, %z: memref<f32>, %w: memref<i64>, %v: memref<index>) kernel {
    %r = math.trunc %x : f32
    memref.store %r, %z[] : memref<f32>
    %p = math.ipowi %n, %n : i64
    memref.store %p, %w[] : memref<i64>
    %m = arith.remsi %a, %b : index
    memref.store %m, %v[] : memref<index>
    gpu.return
  }
}
