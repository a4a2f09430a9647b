// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-unroll-elementwise{shape=8})" | FileCheck %s
// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-unroll-elementwise{shape=2x2})" | FileCheck %s --check-prefix=SQUARE

// The last tile is smaller where the extents do not divide.
// CHECK-LABEL: func.func @sum
// CHECK:         skript.add %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK:         vector.insert_strided_slice %{{.*}}, %{{.*}} {offsets = [0], strides = [1]} : vector<8xf32> into vector<20xf32>
// CHECK:         skript.add %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK:         vector.extract_strided_slice %{{.*}} {offsets = [16], sizes = [4], strides = [1]} : vector<20xf32> to vector<4xf32>
// CHECK:         skript.add %{{.*}}, %{{.*}} : vector<4xf32>
func.func @sum(%x: vector<20xf32>, %y: vector<20xf32>) -> vector<20xf32> {
  %0 = skript.add %x, %y : vector<20xf32>
  return %0 : vector<20xf32>
}

// Outer dimensions become 1; scalars are kept; the predicate has another element type than the others.
// CHECK-LABEL: func.func @choose
// CHECK-COUNT-2: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<1x4xi1>, vector<1x4xf32>
// SQUARE-LABEL: func.func @choose
// SQUARE-COUNT-2: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<2x2xi1>, vector<2x2xf32>
func.func @choose(%c: vector<2x4xi1>, %x: vector<2x4xf32>, %y: vector<2x4xf32>) -> vector<2x4xf32> {
  %0 = arith.select %c, %x, %y : vector<2x4xi1>, vector<2x4xf32>
  return %0 : vector<2x4xf32>
}

// Small operations do not change.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     slice
// CHECK:         math.exp %{{.*}} : vector<4xf32>
func.func @small(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  return %0 : vector<4xf32>
}
