// RUN: skript-opt %s --skript-drop-fast-math | FileCheck %s

// Without flags nothing changes, nor do the flags of integers.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT:    arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    arith.addi %{{.*}}, %{{.*}} overflow<nsw> : i32
func.func @plain(%x: f32, %n: i32) -> (f32, i32) {
  %sum = arith.addf %x, %x : f32
  %count = arith.addi %n, %n overflow<nsw> : i32
  return %sum, %count : f32, i32
}
