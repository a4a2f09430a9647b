// RUN: skript-opt %s --skript-outline-kernels=block=128 --split-input-file | FileCheck %s

// A parallel loop is a kernel of 128 threads; equal loops are one.
// CHECK-LABEL: func.func @twice
// CHECK-SAME:    %[[X:[^:]+]]: memref<4000xi8>, %[[Y:[^:]+]]: memref<4000xi8>
// CHECK-DAG:     %[[BLOCKS:.+]] = arith.constant 8 : index
// CHECK-DAG:     %[[THREADS:.+]] = arith.constant 128 : index
// CHECK:         gpu.launch_func @kernels::@kernel_0 blocks in (%[[BLOCKS]], %{{.+}}, %{{.+}}) threads in (%[[THREADS]],
// CHECK-SAME:      args({{.*}}memref<4000xi8>, {{.*}}memref<4000xi8>)
// CHECK:         gpu.launch_func @kernels::@kernel_0
// CHECK-NOT:     scf.parallel
// CHECK:         gpu.module @kernels
// CHECK:           gpu.func @kernel_0({{.*}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>}
// CHECK:             %[[BLOCK:.+]] = gpu.block_id x
// CHECK:             %[[THREAD:.+]] = gpu.thread_id x
// CHECK:             scf.for
// CHECK:               arith.remui
// CHECK:               memref.load
// CHECK:               memref.store
// CHECK-NOT:       gpu.func
func.func @twice(%x: memref<4000xi8>, %y: memref<4000xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c100 = arith.constant 100 : index
  %a = memref.view %x[%c0][] : memref<4000xi8> to memref<100x10xf32>
  %b = memref.view %y[%c0][] : memref<4000xi8> to memref<100x10xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c100, %c10) step (%c1, %c1) {
    %v = memref.load %a[%i, %j] : memref<100x10xf32>
    memref.store %v, %b[%i, %j] : memref<100x10xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c100, %c10) step (%c1, %c1) {
    %v = memref.load %a[%i, %j] : memref<100x10xf32>
    memref.store %v, %b[%i, %j] : memref<100x10xf32>
    scf.reduce
  }
  return
}

// -----

// A sequential loop around a large parallel one stays; what is sequential is a kernel of one thread.
// CHECK-LABEL: func.func @steps
// CHECK:         scf.for
// CHECK:           gpu.launch_func @kernels::@kernel_0
// CHECK:         gpu.launch_func @kernels::@kernel_1
// CHECK:         gpu.func @kernel_1({{.*}}) kernel attributes {known_block_size = array<i32: 1, 1, 1>}
// CHECK:           scf.for
// CHECK:             memref.store
func.func @steps(%x: memref<400xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %one = arith.constant 1.0 : f32
  %a = memref.view %x[%c0][] : memref<400xi8> to memref<100xf32>
  scf.for %t = %c0 to %c100 step %c1 {
    scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
      %v = memref.load %a[%i] : memref<100xf32>
      %w = arith.addf %v, %one : f32
      memref.store %w, %a[%i] : memref<100xf32>
      scf.reduce
    }
  }
  scf.for %t = %c1 to %c100 step %c1 {
    %s = arith.subi %t, %c1 : index
    %v = memref.load %a[%s] : memref<100xf32>
    memref.store %v, %a[%t] : memref<100xf32>
  }
  return
}

// -----

// What a branch of the host depends on is read after the kernel that writes it.
// CHECK-LABEL: func.func @branch
// CHECK:         gpu.launch_func @kernels::@kernel_0
// CHECK:         %[[VALUE:.+]] = memref.load
// CHECK:         %[[IS:.+]] = arith.cmpf ogt, %[[VALUE]]
// CHECK:         scf.if %[[IS]]
// CHECK:           gpu.launch_func @kernels::@kernel_1
func.func @branch(%x: memref<400xi8>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %one = arith.constant 1.0 : f32
  %a = memref.view %x[%c0][] : memref<400xi8> to memref<100xf32>
  memref.store %one, %a[%c1] : memref<100xf32>
  %v = memref.load %a[%c1] : memref<100xf32>
  %is = arith.cmpf ogt, %v, %one : f32
  scf.if %is {
    scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
      memref.store %one, %a[%i] : memref<100xf32>
      scf.reduce
    }
  }
  return
}

// -----

// Extents of arguments and of results are in memory of the host, which reads and writes them.
// CHECK-LABEL: func.func @extents
// CHECK:         gpu.launch_func @kernels::@kernel_0
// CHECK-NOT:     gpu.launch_func
// CHECK:         memref.store %{{.*}}, %arg2[
// CHECK:         return
func.func @extents(%x: memref<400xi8>, %n: memref<1xi64> {skript.extents = 0 : i64}, %m: memref<1xi64> {llvm.noalias, skript.result_extents})
    attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %count = memref.load %n[%c0] : memref<1xi64>
  %extent = arith.index_cast %count : i64 to index
  %a = memref.view %x[%c0][%extent] : memref<400xi8> to memref<?xf32>
  scf.parallel (%i) = (%c0) to (%extent) step (%c1) {
    memref.store %one, %a[%i] : memref<?xf32>
    scf.reduce
  }
  memref.store %count, %m[%c0] : memref<1xi64>
  return
}
