// RUN: skript-opt %s --split-input-file --skript-pad-extents | FileCheck %s

// The filled part of a pack, and an item that is inserted: only its filled part is written.
// CHECK-LABEL: func.func @packs
// CHECK-SAME:    (%[[X:[^ ]+]]: tensor<4xf32>{{.*}}, %[[E:[^ ]+]]: i32
func.func @packs(%x: tensor<?xf32> {skript.bounds = array<i64: 4>}, %whole: tensor<3x8xf32>, %k: index) -> (tensor<3x8xf32>, tensor<3x?xf32>) attributes {skript.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.minsi %n, %c4 : index
  // CHECK: %[[N:.+]] = arith.index_cast %[[E]]
  // CHECK: %[[M:.+]] = arith.minsi %[[N]]
  // CHECK: %[[IN:.+]] = skript.formula assign (%[[I:.+]]) in (4)
  // CHECK:   skript.lt %[[I]], %[[M]]
  // CHECK:   %[[V:.+]] = skript.access %[[X]][%[[I]]]
  // CHECK:   skript.yield %[[V]] at [%{{.+}}, %[[I]]]
  %in = tensor.insert_slice %x into %whole[%k, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<3x8xf32>
  // CHECK: %[[OUT:.+]] = tensor.extract_slice %[[IN]][0, 0] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  // CHECK: %[[LENGTH:.+]] = arith.index_cast %[[M]] : index to i32
  // CHECK: return %[[IN]], %[[OUT]], %[[LENGTH]]
  %out = tensor.extract_slice %in[0, 0] [3, %m] [1, 1] : tensor<3x8xf32> to tensor<3x?xf32>
  return %in, %out : tensor<3x8xf32>, tensor<3x?xf32>
}

// -----

// Two combined tensors have the larger bound: the smaller one is padded.
// CHECK-LABEL: func.func @meet
// CHECK-SAME:    (%[[X:[^ ]+]]: tensor<4xf32>{{.*}}, %[[Y:[^ ]+]]: tensor<6xf32>
// CHECK:         scf.if %{{.+}} -> (tensor<6xf32>, index)
// CHECK:           %[[P:.+]] = tensor.insert_slice %[[X]] into %{{.+}}[0] [4] [1] : tensor<4xf32> into tensor<6xf32>
// CHECK:           scf.yield %[[P]]
// CHECK:           scf.yield %[[Y]]
func.func @meet(%x: tensor<?xf32> {skript.bounds = array<i64: 4>}, %y: tensor<?xf32> {skript.bounds = array<i64: 6>}, %c: i1) -> tensor<?xf32> attributes {skript.entry} {
  %z = scf.if %c -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %z : tensor<?xf32>
}
