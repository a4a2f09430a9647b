// RUN: skript-opt %s --skript-guard-angles | FileCheck %s
// RUN: skript-opt %s --skript-guard-angles --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @angle
// CHECK-SAME:    %[[Y:.+]]: f32, %[[X:.+]]: f32
// CHECK:         %[[SIDE:.+]] = math.copysign %{{.+}}, %[[X]]
// CHECK:         %[[GUARDED:.+]] = arith.select %{{.+}}, %[[SIDE]], %[[X]]
// CHECK:         math.atan2 %[[Y]], %[[GUARDED]]
func.func @angle(%y: f32, %x: f32) -> f32 {
  %0 = math.atan2 %y, %x : f32
  return %0 : f32
}

// The angles of zeros: 0, -0, pi, -pi.
// FOLDED-LABEL: func.func @zeros
// FOLDED-DAG:     arith.constant 0.000000e+00 : f32
// FOLDED-DAG:     arith.constant -0.000000e+00 : f32
// FOLDED-DAG:     arith.constant 3.14159274 : f32
// FOLDED-DAG:     arith.constant -3.14159274 : f32
// FOLDED-NOT:     atan2
func.func @zeros() -> (f32, f32, f32, f32) {
  %p = arith.constant 0.0 : f32
  %n = arith.constant -0.0 : f32
  %0 = math.atan2 %p, %p : f32
  %1 = math.atan2 %n, %p : f32
  %2 = math.atan2 %p, %n : f32
  %3 = math.atan2 %n, %n : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
