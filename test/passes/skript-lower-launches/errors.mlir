// RUN: not skript-opt %s --skript-lower-launches 2>&1 | FileCheck %s

// CHECK: the module has 2 public functions
module {
  func.func @one() {
    return
  }
  func.func @two() {
    return
  }
  gpu.module @kernels {
    gpu.func @kernel_0() kernel {
      gpu.return
    }
  }
}
