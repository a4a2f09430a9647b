// RUN: skript-opt %s --skript-lower-launches | FileCheck %s

// CHECK-LABEL: func.func @launch
// CHECK-SAME:    %[[X:[^:]+]]: memref<4xi8>
// CHECK:         %[[STACK:.+]] = memref.alloca() : memref<8xi64>
// CHECK:         memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:         memref.store %{{.+}}, %[[STACK]]
// CHECK:         arith.bitcast %{{.+}} : f32 to i32
// CHECK:         arith.extui %{{.+}} : i32 to i64
// CHECK:         memref.store %{{.+}}, %[[STACK]]
// CHECK:         call @skript_launch(
// CHECK:         %[[WORD:.+]] = call @skript_device_read(
// CHECK:         %[[BITS:.+]] = arith.trunci %[[WORD]] : i64 to i32
// CHECK:         %[[VALUE:.+]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK:         return %[[VALUE]]
// CHECK-NOT:   gpu.
module attributes {gpu.container_module} {
  func.func @launch(%x: memref<4xi8>, %v: f32) -> f32 attributes {skript.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@kernel_0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xi8>, %v : f32)
    %view = memref.view %x[%c0][] : memref<4xi8> to memref<1xf32>
    %r = memref.load %view[%c0] : memref<1xf32>
    return %r : f32
  }
  gpu.module @kernels {
    gpu.func @kernel_0(%x: memref<4xi8>, %v: f32) kernel {
      gpu.return
    }
  }
}
