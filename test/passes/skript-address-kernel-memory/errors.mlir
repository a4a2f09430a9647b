// RUN: not skript-opt %s --skript-address-kernel-memory --split-input-file 2>&1 | FileCheck %s

gpu.module @kernels {
  // CHECK: calls a function of several blocks
  gpu.func @kernel(%x: i1) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    func.call @other(%x) : (i1) -> ()
    gpu.return
  }
  func.func private @other(%x: i1) {
    cf.cond_br %x, ^bb1, ^bb2
  ^bb1:
    return
  ^bb2:
    return
  }
}

// -----

gpu.module @kernels {
  // CHECK: SPIR-V cannot store elements of type i4
  gpu.func @kernel(%x: memref<4xi4>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<4xi4>
    memref.store %v, %x[%c0] : memref<4xi4>
    gpu.return
  }
}
