// RUN: skript-opt %s --skript-block-transpositions=vector-bits=128 --canonicalize --cse | FileCheck %s

// The blocks of a copy are transposed in registers: here of four lanes. The last block of a row of 102 columns overlaps the one before.
// CHECK-LABEL: func.func @copy
// CHECK-SAME:    %[[X:[^ ]+]]: memref<2x72x102xf32>, %[[Y:[^ ]+]]: memref<2x102x72xf32>
// CHECK-DAG:     %[[XS:.+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [14688], strides: [1]
// CHECK-DAG:     %[[YS:.+]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [14688], strides: [1]
// CHECK:         scf.parallel (%[[B:.+]], %[[J:.+]], %[[I:.+]]) = (%c0, %c0, %c0) to (%c2, %c26, %c18)
// CHECK:           %[[START:.+]] = arith.muli %[[J]], %c4
// CHECK:           arith.minsi %[[START]], %c98
// CHECK:           %[[FIRST:.+]] = vector.load %[[XS]][{{.*}}] : {{.*}}, vector<4xf32>
// CHECK:           %[[SECOND:.+]] = vector.load
// CHECK:           %[[THIRD:.+]] = vector.load
// CHECK:           %[[FOURTH:.+]] = vector.load
// CHECK:           %[[UPPER:.+]] = vector.shuffle %[[FIRST]], %[[THIRD]] [0, 1, 4, 5]
// CHECK:           %[[OTHER:.+]] = vector.shuffle %[[SECOND]], %[[FOURTH]] [0, 1, 4, 5]
// CHECK:           %[[LANE:.+]] = vector.shuffle %[[UPPER]], %[[OTHER]] [0, 4, 2, 6]
// CHECK:           vector.store %[[LANE]], %[[YS]]
// CHECK-COUNT-3:   vector.store
// CHECK:         } {skript.work = 16 : i64}
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @copy(%x: memref<2x72x102xf32>, %y: memref<2x102x72xf32>) {
  linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, j, i)>, affine_map<(b, i, j) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<2x72x102xf32>) outs(%y : memref<2x102x72xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// A payload is computed in vectors of the input's elements; what is the same for all of a vector is one vector. The output begins behind
// a border, and its rows are shorter than a vector.
// CHECK-LABEL: func.func @quantized
// CHECK-SAME:    %[[X:[^ ]+]]: memref<64x14x14xf32>, %[[S:[^ ]+]]: memref<14xf32>, %[[Y:[^ ]+]]: memref<16x16x64xi8>
// CHECK-DAG:     %[[LIMIT:.+]] = arith.constant dense<1.270000e+02> : vector<4xf32>
// CHECK-DAG:     %[[YS:.+]] = memref.reinterpret_cast %{{.+}} to offset: [1088],
// CHECK:         scf.parallel
// CHECK:           %[[A:.+]] = vector.load %{{.+}} : memref<12544xf32, strided<[1]>>, vector<4xf32>
// CHECK:           %[[R:.+]] = memref.load
// CHECK:           %[[B:.+]] = vector.broadcast %[[R]] : f32 to vector<4xf32>
// CHECK:           %[[P:.+]] = arith.mulf %[[A]], %[[B]] : vector<4xf32>
// CHECK:           %[[Q:.+]] = arith.minnumf %[[P]], %[[LIMIT]] : vector<4xf32>
// CHECK:           %[[I:.+]] = arith.fptosi %[[Q]] : vector<4xf32> to vector<4xi8>
// CHECK:           vector.shuffle {{.+}} : vector<4xi8>, vector<4xi8>
// CHECK-COUNT-4:   vector.store {{.+}}, %[[YS]]
func.func @quantized(%x: memref<64x14x14xf32>, %s: memref<14xf32>, %y: memref<16x16x64xi8>) {
  %limit = arith.constant 127.0 : f32
  %inside = memref.subview %y[1, 1, 0] [14, 14, 64] [1, 1, 1] : memref<16x16x64xi8> to memref<14x14x64xi8, strided<[1024, 64, 1], offset: 1088>>
  linalg.generic {indexing_maps = [affine_map<(i, j, c) -> (c, i, j)>, affine_map<(i, j, c) -> (i)>, affine_map<(i, j, c) -> (i, j, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : memref<64x14x14xf32>, memref<14xf32>) outs(%inside : memref<14x14x64xi8, strided<[1024, 64, 1], offset: 1088>>) {
  ^bb0(%p: f32, %q: f32, %o: i8):
    %r = arith.mulf %p, %q : f32
    %t = arith.minnumf %r, %limit : f32
    %n = arith.fptosi %t : f32 to i8
    linalg.yield %n : i8
  }
  return
}

// Complex numbers are in no vectors.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     vector.load
// CHECK:         linalg.generic
func.func @others(%c: memref<64x64xcomplex<f32>>, %d: memref<64x64xcomplex<f32>>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%c : memref<64x64xcomplex<f32>>) outs(%d : memref<64x64xcomplex<f32>>) {
  ^bb0(%p: complex<f32>, %o: complex<f32>):
    linalg.yield %p : complex<f32>
  }
  return
}
