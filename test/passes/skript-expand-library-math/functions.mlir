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

// Where a processor lacks them, maxima and minima are selections: NaN where an operand is, and zeros by their signs.
// RUN: skript-opt %s "--skript-expand-library-math=operations=maximumf,minimumf" | FileCheck %s --check-prefix=EXTREMES
// CHECK-LABEL: func.func @extremes
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// EXTREMES-LABEL: func.func @extremes
// EXTREMES:         arith.cmpf uno, %arg0, %arg1 : f64
// EXTREMES-COUNT-2: arith.cmpf ogt, {{.*}} : f64
// EXTREMES:         arith.andi {{.*}} : i64
// EXTREMES-COUNT-2: arith.cmpf olt, {{.*}} : f32
// EXTREMES:         arith.ori {{.*}} : i32
func.func @extremes(%x: f64, %y: f64, %a: f32, %b: f32) -> (f64, f32) {
  %greater = arith.maximumf %x, %y : f64
  %less = arith.minimumf %a, %b : f32
  return %greater, %less : f64, f32
}
