// RUN: skript-opt %s --convert-skript-elementwise-to-formula | FileCheck %s
// RUN: skript-opt %s --convert-skript-elementwise-to-formula --convert-skript-formula-to-scf | FileCheck %s --check-prefix=LOOPS --implicit-check-not=linalg

// An op of this dialect, one of another, and one that this repository does not know: the trait is all they share.

// CHECK-LABEL: func.func @maps
// CHECK-SAME:    %[[X:.+]]: tensor<4x8xf32>, %[[S:.+]]: f32
// CHECK:         skript.formula assign (%[[I:.+]], %[[J:.+]]) in (4, 8)
// CHECK:           %[[A:.+]] = skript.access %[[X]][%[[I]], %[[J]]]
// CHECK:           %[[V:.+]] = skript.add %[[A]], %[[S]] : f32
// CHECK:           skript.yield %[[V]] at [%[[I]], %[[J]]] : f32
// CHECK:         skript.formula assign
// CHECK:           arith.select {{.*}} : f32
// CHECK:         skript.formula assign
// CHECK:           skript_test.split %{{.*}} at 7 : f32 -> i8, i16
// CHECK:           skript.yield %{{.*}} at {{.*}}, %{{.*}} at {{.*}} : i8, i16

// LOOPS-LABEL: func.func @maps
// LOOPS:         scf.for
// LOOPS:           memref.load
// LOOPS:           skript.add %{{.*}} : f32
// LOOPS:         scf.for
// LOOPS:           arith.select %{{.*}} : f32
func.func @maps(%x: tensor<4x8xf32>, %s: f32, %c: i1) -> (tensor<4x8xf32>, tensor<4x8xi8>, tensor<4x8xi16>) {
  %0 = skript.add %x, %s : tensor<4x8xf32>, f32
  %1 = arith.select %c, %0, %x : tensor<4x8xf32>
  %2:2 = skript_test.split %1 at 7 : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4x8xi16>
  return %1, %2#0, %2#1 : tensor<4x8xf32>, tensor<4x8xi8>, tensor<4x8xi16>
}
