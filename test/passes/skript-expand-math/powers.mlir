// RUN: skript-opt %s --skript-expand-math | FileCheck %s

// A power needs no logarithm where its exponent is a small whole number or one half.
// CHECK-LABEL: func.func @powers
// CHECK-NOT:     math.powf
// CHECK:         call @skript.pow.f32(%arg0, %arg1) : (f32, f32) -> f32
// CHECK:         call @skript.pow_4000000000000000.f32(%{{.+}}) : (f32) -> f32
// CHECK:         call @skript.pow_4008000000000000.8xf32(%arg2) : (vector<8xf32>) -> vector<8xf32>
// CHECK:         call @skript.pow.f32
func.func @powers(%x: f32, %y: f32, %v: vector<8xf32>) -> (f32, vector<8xf32>) {
  %two = arith.constant 2.0 : f32
  %three = arith.constant dense<3.0> : vector<8xf32>
  %half = arith.constant 1.5 : f32
  %0 = math.powf %x, %y : f32
  %1 = math.powf %0, %two : f32
  %2 = math.powf %v, %three : vector<8xf32>
  %3 = math.powf %1, %half : f32
  return %3, %2 : f32, vector<8xf32>
}

// CHECK:       func.func private @skript.pow_4000000000000000.f32(%[[X:.+]]: f32) -> f32
// CHECK-NEXT:    %[[Y:.+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT:    return %[[Y]]

// CHECK:       func.func private @skript.pow_4008000000000000.8xf32
// CHECK:         arith.extf
// CHECK:         arith.mulf {{.*}} : vector<8xf64>
// CHECK:         arith.mulf {{.*}} : vector<8xf64>
// CHECK:         arith.truncf
