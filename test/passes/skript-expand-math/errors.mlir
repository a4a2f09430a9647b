// RUN: skript-opt %s --skript-expand-math | FileCheck %s

// Other types, other functions, and bounds that are constant stay.
// CHECK-LABEL: func.func @kept
// CHECK:         math.exp %arg0 : f16
// CHECK:         math.cbrt %arg1 : f32
// CHECK:         math.tanh %arg2 : vector<2x4xf32>
// CHECK:         math.exp2 %arg3 : f64
// CHECK:         arith.maximumf %arg4, %{{.+}} : vector<16xf32>
// CHECK-NOT:   skript.
func.func @kept(%h: f16, %x: f32, %m: vector<2x4xf32>, %d: f64, %v: vector<16xf32>)
    -> (f16, f32, vector<2x4xf32>, f64, vector<16xf32>) {
  %a = math.exp %h : f16
  %b = math.cbrt %x : f32
  %c = math.tanh %m : vector<2x4xf32>
  %e = math.exp2 %d : f64
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %f = arith.maximumf %v, %zero : vector<16xf32>
  return %a, %b, %c, %e, %f : f16, f32, vector<2x4xf32>, f64, vector<16xf32>
}
