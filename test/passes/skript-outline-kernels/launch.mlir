// RUN: skript-opt %s --skript-outline-kernels | FileCheck %s

// A `gpu.launch` is a kernel of its blocks and threads; what a block shares stays the kernel's own.
// CHECK-LABEL: func.func @shared
// CHECK-SAME:    %[[X:[^:]+]]: memref<256xi8>
// CHECK:         gpu.launch_func @kernels::@kernel_0 blocks in (%{{.+}}, %{{.+}}, %{{.+}}) threads in (%{{.+}}, %{{.+}}, %{{.+}}) args(%[[X]] : memref<256xi8>)
// CHECK:         gpu.func @kernel_0(%[[A:.+]]: memref<256xi8>) workgroup(%[[S:.+]] : memref<32xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK-SAME:      known_block_size = array<i32: 32, 1, 1>
// CHECK:           %[[BLOCK:.+]] = gpu.block_id x
// CHECK:           %[[THREAD:.+]] = gpu.thread_id x
// CHECK:           memref.load %{{.+}}[%[[BLOCK]], %[[THREAD]]]
// CHECK:           memref.store %{{.+}}, %[[S]][%[[THREAD]]]
// CHECK:           gpu.barrier
// CHECK:           gpu.return
func.func @shared(%x: memref<256xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %a = memref.view %x[%c0][] : memref<256xi8> to memref<2x32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
      workgroup(%s : memref<32xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %a[%bx, %tx] : memref<2x32xf32>
    memref.store %v, %s[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %other = arith.subi %c31, %tx : index
    %w = memref.load %s[%other] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %w, %a[%bx, %tx] : memref<2x32xf32>
    gpu.terminator
  }
  return
}
