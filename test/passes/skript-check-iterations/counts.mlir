// RUN: skript-opt %s --split-input-file --skript-check-iterations=iterations=100 --canonicalize | FileCheck %s
// RUN: skript-opt %s --split-input-file --skript-check-iterations=iterations=20000 --canonicalize | FileCheck %s --check-prefix=MANY

// 64 threads share 40000 elements, in one block that is the first of one: 625 iterations, and the one that they are in.
// CHECK-LABEL: func.func @known
// CHECK:         %[[ALLOWED:.+]] = call @skript_device_iterations() : () -> i64
// CHECK:         %[[HOLDS:.+]] = arith.cmpi sge, %[[ALLOWED]], %c626_i64
// CHECK:         skript.check %[[HOLDS]], "SK9201", "a thread of the device executes up to {0} iterations of loops here
// CHECK:         gpu.launch_func {{.*}} {skript.counted}
// CHECK:       func.func private @skript_device_iterations() -> i64
// MANY-LABEL: func.func @known
// MANY-NOT:     skript.check
// MANY:         gpu.launch_func
module attributes {gpu.container_module} {
  func.func @known(%x: memref<40000xf32>, %y: memref<1xf32>) attributes {skript.entry} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@sum blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<40000xf32>, %y : memref<1xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @sum(%x: memref<40000xf32>, %y: memref<1xf32>) kernel {
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : i32
      %all = arith.constant 40000 : i32
      %zero = arith.constant 0.0 : f32
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %thread = gpu.thread_id x
      %first = arith.index_cast %thread : index to i32
      scf.for %b = %block to %c1 step %blocks {
        %sum = scf.for %i = %first to %all step %c64 iter_args(%part = %zero) -> (f32) : i32 {
          %at = arith.index_cast %i : i32 to index
          %own = memref.load %x[%at] : memref<40000xf32>
          %next = arith.addf %part, %own : f32
          scf.yield %next : f32
        }
        memref.store %sum, %y[%b] : memref<1xf32>
      }
      gpu.return
    }
  }
}

// -----

// The host computes dynamic numbers: each of the iterations of a thread, n of m, has one of the loop over those before it, at most m.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    %[[N:.+]]: i64, %[[M:.+]]: index, %[[BLOCKS:.+]]: index
// CHECK-DAG:     %[[NI:.+]] = arith.index_cast %[[N]] : i64 to index
// CHECK-DAG:     %[[STRIDE:.+]] = arith.muli %[[BLOCKS]], %c64
// CHECK:         arith.ceildivui
// CHECK:         skript.check
// CHECK:         gpu.launch_func
module attributes {gpu.container_module} {
  func.func @dynamic(%n: i64, %m: index, %blocks: index, %x: memref<?xf32>) attributes {skript.entry} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@steps blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1) args(%n : i64, %m : index, %x : memref<?xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @steps(%n: i64, %m: index, %x: memref<?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %all = arith.index_cast %n : i64 to index
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %blocks = gpu.grid_dim x
      %begin = arith.muli %block, %c64 : index
      %first = arith.addi %begin, %thread : index
      %stride = arith.muli %blocks, %c64 : index
      %zero = arith.constant 0.0 : f32
      scf.for %i = %first to %all step %stride {
        %few = arith.minsi %i, %m : index
        scf.for %j = %c0 to %few step %c1 {
          memref.store %zero, %x[%i] : memref<?xf32>
        }
      }
      gpu.return
    }
  }
}

// -----

// Data bound the inner loop, but so does an extent; a loop that data alone bound counts as one iteration.
// CHECK-LABEL: func.func @data
// CHECK:         skript.check %{{.+}}, "SK9201", {{.*}}(%c1002_i64
// CHECK-NOT:     skript.check
module attributes {gpu.container_module} {
  func.func @data(%x: memref<1000xf32>, %ends: memref<2xindex>) attributes {skript.entry} {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@bounded blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<1000xf32>, %ends : memref<2xindex>)
    gpu.launch_func @kernels::@open blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<1000xf32>, %ends : memref<2xindex>)
    return
  }
  gpu.module @kernels {
    gpu.func @bounded(%x: memref<1000xf32>, %ends: memref<2xindex>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c1000 = arith.constant 1000 : index
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %c1 step %c1 {
        %low = memref.load %ends[%c0] : memref<2xindex>
        %from = arith.maxsi %low, %c0 : index
        %high = memref.load %ends[%c1] : memref<2xindex>
        %to = arith.minsi %high, %c1000 : index
        scf.for %j = %from to %to step %c1 {
          memref.store %zero, %x[%j] : memref<1000xf32>
        }
        scf.for %j = %c0 to %c1 step %c1 {
          memref.store %zero, %x[%j] : memref<1000xf32>
        }
      }
      gpu.return
    }
    gpu.func @open(%x: memref<1000xf32>, %ends: memref<2xindex>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %to = memref.load %ends[%c0] : memref<2xindex>
      scf.for %j = %c0 to %to step %c1 {
        memref.store %zero, %x[%j] : memref<1000xf32>
      }
      gpu.return
    }
  }
}
