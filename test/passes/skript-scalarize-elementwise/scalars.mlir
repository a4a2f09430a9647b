// RUN: skript-opt %s --skript-scalarize-elementwise | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-SAME:    %[[X:.+]]: tensor<4x?xf32>, %[[Y:.+]]: tensor<4x?xf32>
// CHECK:         %[[N:.+]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         tensor.generate %[[N]] {
// CHECK:         ^bb0(%[[I:.+]]: index, %[[J:.+]]: index):
// CHECK:           %[[A:.+]] = tensor.extract %[[X]][%[[I]], %[[J]]]
// CHECK:           %[[B:.+]] = tensor.extract %[[Y]][%[[I]], %[[J]]]
// CHECK:           %[[S:.+]] = skript.add %[[A]], %[[B]] : f32
// CHECK:           tensor.yield %[[S]] : f32
func.func @sum(%x: tensor<4x?xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = skript.add %x, %y : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// A scalar predicate serves every element.
// CHECK-LABEL: func.func @choose
// CHECK-SAME:    %[[C:.+]]: i1
// CHECK:         tensor.generate {
// CHECK:           skript.select %[[C]], %{{.*}}, %{{.*}} : f32
func.func @choose(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = skript.select %c, %x, %y : i1, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @of_rank_0
// CHECK:         tensor.extract %{{.*}}[] : tensor<f32>
// CHECK:         math.exp %{{.*}} : f32
func.func @of_rank_0(%x: tensor<f32>) -> tensor<f32> {
  %0 = math.exp %x : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @vectors
// CHECK:         vector.extract %{{.*}}[0, 1] : f32 from vector<2x2xf32>
// CHECK:         %[[D:.+]] = arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK-NOT:     arith.cmpf {{.*}}vector
// CHECK:         vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<2x2xi1>
func.func @vectors(%x: vector<2x2xf32>, %y: vector<2x2xf32>) -> vector<2x2xi1> {
  %0 = arith.cmpf olt, %x, %y : vector<2x2xf32>
  return %0 : vector<2x2xi1>
}

// Several results, one generate each; the op is of a dialect that the pass never names.
// CHECK-LABEL: func.func @wide
// CHECK:         tensor.generate
// CHECK:           %[[LOW:.+]], %{{.*}} = arith.mulsi_extended %{{.*}}, %{{.*}} : i32
// CHECK:           tensor.yield %[[LOW]]
// CHECK:         tensor.generate
// CHECK:           %{{.*}}, %[[HIGH:.+]] = arith.mulsi_extended
// CHECK:           tensor.yield %[[HIGH]]
func.func @wide(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %low, %high = arith.mulsi_extended %x, %x : tensor<4xi32>
  return %low, %high : tensor<4xi32>, tensor<4xi32>
}
