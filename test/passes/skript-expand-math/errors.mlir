// RUN: skript-opt %s --skript-expand-math | FileCheck %s

// Other types and other functions stay.
// CHECK-LABEL: func.func @kept
// CHECK:         math.exp %arg0 : f64
// CHECK:         math.sin %arg1 : f32
// CHECK:         math.tanh %arg2 : vector<2x4xf32>
// CHECK-NOT:   skript.exp
func.func @kept(%d: f64, %x: f32, %m: vector<2x4xf32>) -> (f64, f32, vector<2x4xf32>) {
  %a = math.exp %d : f64
  %b = math.sin %x : f32
  %c = math.tanh %m : vector<2x4xf32>
  return %a, %b, %c : f64, f32, vector<2x4xf32>
}
