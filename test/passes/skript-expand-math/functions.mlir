// RUN: skript-opt %s --skript-expand-math | FileCheck %s

// Each function is added once for each type; those that another one needs are added as well.
// CHECK-LABEL: func.func @model
// CHECK-NOT:     math.exp
// CHECK-NOT:     math.tanh
// CHECK:         call @skript.exp.f32(%arg0)
// CHECK:         call @skript.exp.f32
// CHECK:         call @skript.tanh.8xf32(%arg1)
// CHECK:         call @skript.log.f32
// CHECK:         call @skript.erf.f32
func.func @model(%x: f32, %v: vector<8xf32>) -> (f32, vector<8xf32>) {
  %a = math.exp %x : f32
  %b = math.exp %a : f32
  %t = math.tanh %v : vector<8xf32>
  %l = math.log %b : f32
  %e = math.erf %l : f32
  return %e, %t : f32, vector<8xf32>
}
// CHECK:       func.func private @skript.exp.f32(%arg0: f32) -> f32
// CHECK-SAME:    alwaysinline
// CHECK-NOT:     call
// CHECK:         return
// CHECK:       func.func private @skript.exp.8xf32(%arg0: vector<8xf32>) -> vector<8xf32>
// CHECK:       func.func private @skript.tanh.8xf32
// CHECK:         call @skript.exp.8xf32
// CHECK:         math.copysign
// CHECK:       func.func private @skript.erf.f32
// CHECK:         call @skript.exp.f32
// CHECK:       func.func private @skript.log.f32
