// RUN: skript-opt %s --skript-expand-library-math | FileCheck %s
// RUN: skript-opt %s --skript-expand-library-math=operations=floor | FileCheck %s --check-prefix=FLOOR

// CHECK-LABEL: func.func @rounded
// FLOOR-LABEL: func.func @rounded
func.func @rounded(%x: f32) -> (f32, f32, f32) {
  // CHECK-NOT:     math.{{floor|round|trunc}}
  // CHECK:         arith.fptosi {{.*}} : f32 to i32
  // FLOOR-NOT:     math.floor
  // FLOOR:         math.roundeven
  // FLOOR:         math.trunc
  %floor = math.floor %x : f32
  %even = math.roundeven %x : f32
  %whole = math.trunc %x : f32
  return %floor, %even, %whole : f32, f32, f32
}

// CHECK-LABEL: func.func @vectors
// CHECK:         arith.fptosi {{.*}} : vector<4xf64> to vector<4xi64>
// CHECK-NOT:     math.round
func.func @vectors(%x: vector<4xf64>) -> vector<4xf64> {
  %r = math.round %x : vector<4xf64>
  return %r : vector<4xf64>
}

// CHECK-LABEL: func.func @remainder
// CHECK:         scf.for
// CHECK:           arith.remui {{.*}} : i64
// CHECK-NOT:     arith.remf
func.func @remainder(%x: f32, %y: f32, %v: f64, %w: f64) -> (f32, f64) {
  %r = arith.remf %x, %y : f32
  %s = arith.remf %v, %w : f64
  return %r, %s : f32, f64
}

// Other types have no expansion.
// CHECK-LABEL: func.func @half
// CHECK:         math.floor {{.*}} : f16
func.func @half(%x: f16) -> f16 {
  %r = math.floor %x : f16
  return %r : f16
}
