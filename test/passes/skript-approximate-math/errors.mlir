// RUN: not skript-opt %s --skript-approximate-math 2>&1 | FileCheck %s

// A pass for modules refuses text that is none.
// CHECK: error: {{.*}}math.none
gpu.module @kernels {
  gpu.func @kernel(%x: f32) kernel {
    %r = math.none %x : f32
    gpu.return
  }
}
