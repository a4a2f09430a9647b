// RUN: skript-opt %s --skript-address-kernel-memory | FileCheck %s

gpu.module @kernels {
  // CHECK:       spirv.GlobalVariable @parameters : !spirv.ptr<!spirv.struct<(i64 [0])>, PushConstant>
  // CHECK-LABEL: gpu.func @copy()
  // CHECK-SAME:    spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [64, 1, 1]>
  // CHECK:         spirv.mlir.addressof @parameters
  // CHECK:         spirv.ConvertUToPtr %{{.+}} : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
  // CHECK:         spirv.Variable : !spirv.ptr<!spirv.array<4 x f32>, Function>
  // CHECK:         %[[FROM:.+]] = spirv.ConvertUToPtr %{{.+}} : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
  // CHECK:         spirv.Load "PhysicalStorageBuffer" %[[FROM]] ["Aligned", 4] : f32
  // CHECK:         spirv.AccessChain
  // CHECK:         spirv.Store "Function"
  // A bool is a byte.
  // CHECK:         %[[BYTE:.+]] = arith.extui %{{.+}} : i1 to i8
  // CHECK:         spirv.Store "PhysicalStorageBuffer" %{{.+}}, %[[BYTE]] ["Aligned", 1] : i8
  // CHECK-NOT:     memref
  gpu.func @copy(%x: memref<64xi8>, %y: memref<4xi8>, %is: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %own = memref.alloca() : memref<4xf32>
    %a = memref.view %x[%c0][] : memref<64xi8> to memref<4x4xf32>
    %v = memref.load %a[%c2, %c2] : memref<4x4xf32>
    memref.store %v, %own[%c2] : memref<4xf32>
    %b = memref.view %y[%c0][] : memref<4xi8> to memref<4xi1>
    memref.store %is, %b[%c2] : memref<4xi1>
    gpu.return
  }
}

// Calls are inlined, and a loop without iterations has its initial values.
gpu.module @calls {
  // CHECK-LABEL: gpu.func @loop
  // CHECK:         %[[SUM:.+]] = scf.for
  // CHECK:           arith.addf
  // CHECK:         %[[RUNS:.+]] = arith.cmpi slt
  // CHECK:         arith.select %[[RUNS]], %[[SUM]]
  // CHECK-NOT:     call
  gpu.func @loop(%x: memref<4xi8>, %n: index, %v: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.view %x[%c0][] : memref<4xi8> to memref<1xf32>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%h = %v) -> f32 {
      %t = func.call @twice(%h) : (f32) -> f32
      scf.yield %t : f32
    }
    memref.store %s, %a[%c0] : memref<1xf32>
    gpu.return
  }
  func.func private @twice(%v: f32) -> f32 {
    %r = arith.addf %v, %v : f32
    return %r : f32
  }
}

// Several elements are accessed at once in the memory of the device, one by one in memory that a block shares.
gpu.module @vectors {
  // CHECK-LABEL: gpu.func @copies
  // CHECK:         %[[FROM:.+]] = spirv.ConvertUToPtr %{{.+}} : i64 to !spirv.ptr<vector<4xf32>, PhysicalStorageBuffer>
  // CHECK:         %[[ALL:.+]] = spirv.Load "PhysicalStorageBuffer" %[[FROM]] ["Aligned", 16] : vector<4xf32>
  // CHECK:         %[[FIRST:.+]] = spirv.CompositeExtract %[[ALL]][0 : i32] : vector<4xf32>
  // CHECK:         spirv.Store "Workgroup" %{{.+}}, %[[FIRST]] : f32
  // CHECK:         spirv.CompositeExtract %[[ALL]][3 : i32] : vector<4xf32>
  // CHECK:         gpu.barrier
  // CHECK-COUNT-4: spirv.Load "Workgroup"
  // CHECK:         %[[MADE:.+]] = spirv.CompositeConstruct
  // CHECK:         spirv.Store "PhysicalStorageBuffer" %{{.+}}, %[[MADE]] ["Aligned", 16] : vector<4xf32>
  // CHECK-NOT:     vector.
  gpu.func @copies(%x: memref<64xi8>) workgroup(%s : memref<4x4xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %a = memref.view %x[%c0][] : memref<64xi8> to memref<4x4xf32>
    %v = vector.load %a[%t, %c0] {alignment = 16 : i64} : memref<4x4xf32>, vector<4xf32>
    vector.store %v, %s[%t, %c0] {alignment = 16 : i64} : memref<4x4xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    gpu.barrier
    %w = vector.load %s[%c0, %c0] {alignment = 16 : i64} : memref<4x4xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    vector.store %w, %a[%t, %c0] {alignment = 16 : i64} : memref<4x4xf32>, vector<4xf32>
    gpu.return
  }
}
