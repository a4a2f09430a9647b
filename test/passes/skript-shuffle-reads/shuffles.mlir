// RUN: skript-opt %s --skript-shuffle-reads=vector-bits=128 --canonicalize --cse | FileCheck %s

#same = affine_map<(i, j) -> (i, j)>

// Rows of 10 elements, which read those at 41 j / 97: two whole blocks of four, and one that overlaps the second. Two vectors of the
// first row of four elements would be the same: the shuffle has one.
#resized = affine_map<(i, j) -> (i floordiv 2, (j * 41 + 20) floordiv 97)>
// CHECK-LABEL: func.func @resized
// CHECK-SAME:    %[[X:[^ ]+]]: memref<3x5xf32>, %[[Y:[^ ]+]]: memref<6x10xf32>
// CHECK:         scf.parallel (%[[I:.+]]) =
// CHECK:           %[[ROW:.+]] = affine.apply #{{.*}}(%[[I]])
// CHECK:           %[[A:.+]] = vector.load %[[X]][%[[ROW]], %c0] : memref<3x5xf32>, vector<4xf32>
// CHECK:           %[[FIRST:.+]] = vector.shuffle %[[A]], %[[A]] [0, 0, 1, 1] : vector<4xf32>, vector<4xf32>
// CHECK:           vector.store %[[FIRST]], %[[Y]][%[[I]], %c0]
// CHECK:           %[[B:.+]] = vector.load %[[X]][%[[ROW]], %c1] : memref<3x5xf32>, vector<4xf32>
// CHECK:           %[[SECOND:.+]] = vector.shuffle %[[B]], %[[B]] [0, 1, 1, 2]
// CHECK:           vector.store %[[SECOND]], %[[Y]][%[[I]], %c4]
// CHECK:           %[[C:.+]] = vector.load %[[X]][%[[ROW]], %c1] : memref<3x5xf32>, vector<4xf32>
// CHECK:           %[[THIRD:.+]] = vector.shuffle %[[C]], %[[C]] [1, 2, 2, 3]
// CHECK:           vector.store %[[THIRD]], %[[Y]][%[[I]], %c6]
// CHECK-NOT:       vector.store
func.func @resized(%x: memref<3x5xf32>, %y: memref<6x10xf32>) {
  linalg.generic {indexing_maps = [#resized, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<3x5xf32>) outs(%y : memref<6x10xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// Each block of a doubled row reads two elements after the block before it: a loop. The last block is as far from the one before, but
// two of its vector's elements would be behind the row.
#doubled = affine_map<(i, j) -> (i, j floordiv 2)>
// CHECK-LABEL: func.func @doubled
// CHECK-SAME:    %[[X:[^ ]+]]: memref<3x20xf32>, %[[Z:[^ ]+]]: memref<3x40xf32>, %[[Y:[^ ]+]]: memref<3x40xf32>
// CHECK:         scf.parallel (%[[I:.+]]) =
// CHECK:           scf.for %[[GROUP:.+]] = %c0 to %c9 step %c1
// CHECK-DAG:         %[[FROM:.+]] = arith.muli %[[GROUP]], %c2
// CHECK-DAG:         %[[TO:.+]] = arith.muli %[[GROUP]], %c4
// CHECK-DAG:         %[[A:.+]] = vector.load %[[X]][%[[I]], %[[FROM]]] : memref<3x20xf32>, vector<4xf32>
// CHECK-DAG:         %[[S:.+]] = vector.shuffle %[[A]], %[[A]] [0, 0, 1, 1]
// CHECK-DAG:         %[[B:.+]] = vector.load %[[Z]][%[[I]], %[[TO]]] : memref<3x40xf32>, vector<4xf32>
// CHECK:             %[[SUM:.+]] = arith.addf %[[S]], %[[B]] : vector<4xf32>
// CHECK:             vector.store %[[SUM]], %[[Y]][%[[I]], %[[TO]]]
// CHECK:           }
// CHECK:           vector.shuffle {{.*}} [2, 2, 3, 3]
func.func @doubled(%x: memref<3x20xf32>, %z: memref<3x40xf32>, %y: memref<3x40xf32>) {
  linalg.generic {indexing_maps = [#doubled, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : memref<3x20xf32>, memref<3x40xf32>) outs(%y : memref<3x40xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %sum = arith.addf %p, %q : f32
    linalg.yield %sum : f32
  }
  return
}

// The elements of a block lie in two vectors.
#apart = affine_map<(i, j) -> (i, (j * 7) floordiv 4)>
// CHECK-LABEL: func.func @apart
// CHECK-SAME:    %[[X:[^ ]+]]: memref<2x8xf32>
// CHECK-DAG:     %[[A:.+]] = vector.load %[[X]][%{{.*}}, %c0]
// CHECK-DAG:     %[[B:.+]] = vector.load %[[X]][%{{.*}}, %c4]
// CHECK:         vector.shuffle %[[A]], %[[B]] [0, 1, 3, 5]
func.func @apart(%x: memref<2x8xf32>, %y: memref<2x4xf32>) {
  linalg.generic {indexing_maps = [#apart, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x8xf32>) outs(%y : memref<2x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// Elements of 16 bits: one block of eight, and one that overlaps it.
// CHECK-LABEL: func.func @brains
// CHECK-SAME:    %[[X:[^ ]+]]: memref<2x9xbf16>, %[[Y:[^ ]+]]: memref<2x18xbf16>
// CHECK:         vector.shuffle {{.*}} [0, 0, 1, 1, 2, 2, 3, 3] : vector<8xbf16>, vector<8xbf16>
func.func @brains(%x: memref<2x9xbf16>, %y: memref<2x18xbf16>) {
  linalg.generic {indexing_maps = [#doubled, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<2x9xbf16>) outs(%y : memref<2x18xbf16>) {
  ^bb0(%p: bf16, %o: bf16):
    linalg.yield %p : bf16
  }
  return
}
