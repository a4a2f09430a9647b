// RUN: skript-opt %s --split-input-file --skript-unpack-products=vector-bits=256 --canonicalize --cse | FileCheck %s

// The data of each row selects a matrix. The kernel reads the bytes of this matrix only; the other matrices are not unpacked.
#bytes = affine_map<(e, n, k) -> (e, n, k)>
#x = affine_map<(n, k) -> (k)>
#w = affine_map<(n, k) -> (n, k)>
#y = affine_map<(n, k) -> (n)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[^ ]+]]: memref<?x64xf32>, %[[BYTES:[^ ]+]]: memref<6x4x64xi8>, %[[AT:[^ ]+]]: memref<?xindex>
// CHECK-NOT:     memref<6x4x64xf32>
// CHECK:         scf.for %[[I:.+]] = %c0
// CHECK:           %[[E:.+]] = memref.load %[[AT]][%[[I]]]
// CHECK:           %[[OF_X:.+]] = arith.muli %[[I]], %c64
// CHECK:           %[[OF_Y:.+]] = arith.muli %[[I]], %c4
// CHECK:           call @product_0(%[[BYTES]], %[[E]], %{{.+}}, %{{.+}}, %[[OF_X]], %[[OF_Y]], %c1, %c0, %c1)
// CHECK:       func.func private @product_0(%{{.+}}: memref<6x4x64xi8> {llvm.noalias}, %[[SLICE:[^ ]+]]: index,
// CHECK:         arith.muli %[[SLICE]], %c256
func.func @main(%x: memref<?x64xf32>, %bytes: memref<6x4x64xi8>, %at: memref<?xindex>, %y: memref<?x4xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %w = memref.alloc() : memref<6x4x64xf32>
  linalg.generic {indexing_maps = [#bytes, #bytes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bytes : memref<6x4x64xi8>) outs(%w : memref<6x4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    %e = memref.load %at[%i] : memref<?xindex>
    %row = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %result = memref.subview %y[%i, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    %matrix = memref.subview %w[%e, 0, 0] [1, 4, 64] [1, 1, 1] : memref<6x4x64xf32> to memref<4x64xf32, strided<[64, 1], offset: ?>>
    linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%row, %matrix : memref<64xf32, strided<[1], offset: ?>>, memref<4x64xf32, strided<[64, 1], offset: ?>>) outs(%result : memref<4xf32, strided<[1], offset: ?>>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %pq = arith.mulf %p, %q fastmath<contract> : f32
      %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

// A loop that changes the bytes of a later iteration.
#bytes = affine_map<(e, n, k) -> (e, n, k)>
#x = affine_map<(n, k) -> (k)>
#w = affine_map<(n, k) -> (n, k)>
#y = affine_map<(n, k) -> (n)>
// CHECK-LABEL: func.func @main
// CHECK-NOT:     call
func.func @main(%x: memref<?x64xf32>, %bytes: memref<6x4x64xi8>, %at: memref<?xindex>, %y: memref<?x4xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %one = arith.constant 1 : i8
  %w = memref.alloc() : memref<6x4x64xf32>
  linalg.generic {indexing_maps = [#bytes, #bytes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bytes : memref<6x4x64xi8>) outs(%w : memref<6x4x64xf32>) {
  ^bb0(%byte: i8, %o: f32):
    %wide = arith.extsi %byte : i8 to i64
    %real = arith.sitofp %wide : i64 to f32
    linalg.yield %real : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    %e = memref.load %at[%i] : memref<?xindex>
    %row = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %result = memref.subview %y[%i, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    memref.store %one, %bytes[%e, %c0, %c0] : memref<6x4x64xi8>
    %matrix = memref.subview %w[%e, 0, 0] [1, 4, 64] [1, 1, 1] : memref<6x4x64xf32> to memref<4x64xf32, strided<[64, 1], offset: ?>>
    linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%row, %matrix : memref<64xf32, strided<[1], offset: ?>>, memref<4x64xf32, strided<[64, 1], offset: ?>>) outs(%result : memref<4xf32, strided<[1], offset: ?>>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %pq = arith.mulf %p, %q fastmath<contract> : f32
      %s = arith.addf %o, %pq fastmath<reassoc,contract> : f32
      linalg.yield %s : f32
    }
  }
  return
}
