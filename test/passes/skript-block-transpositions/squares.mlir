// RUN: skript-opt %s --skript-block-transpositions=vector-bits=128 --canonicalize --cse | FileCheck %s

// The blocks of a copy are transposed in registers: here of four lanes. What is left of the columns is copied by loops.
// CHECK-LABEL: func.func @copy
// CHECK-SAME:    %[[X:[^ ]+]]: memref<2x72x102xf32>, %[[Y:[^ ]+]]: memref<2x102x72xf32>
// CHECK-DAG:     %[[XS:.+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [14686], strides: [1]
// CHECK-DAG:     %[[YS:.+]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [14544], strides: [1]
// CHECK:         scf.parallel (%[[B:.+]], %[[I:.+]], %[[J:.+]]) = (%c0, %c0, %c0) to (%c2, %c18, %c25)
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
// CHECK:         linalg.generic
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
