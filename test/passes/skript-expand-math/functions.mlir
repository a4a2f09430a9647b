// RUN: skript-opt %s --skript-expand-math | FileCheck %s

// Each function is added once for each type.
// CHECK-LABEL: func.func @model
// CHECK-NOT:     math.
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

// Functions that compute in f64, and functions of f64.
// CHECK-LABEL: func.func @wide
// CHECK-NOT:     math.
// CHECK:         call @skript.sin.f32
// CHECK:         call @skript.cos.f32
// CHECK:         call @skript.tan.f32
// CHECK:         call @skript.asin.f32
// CHECK:         call @skript.acos.f32
// CHECK:         call @skript.atan.f32
// CHECK:         call @skript.sinh.f32
// CHECK:         call @skript.cosh.f32
// CHECK:         call @skript.asinh.f32
// CHECK:         call @skript.acosh.f32
// CHECK:         call @skript.atanh.f32
// CHECK:         call @skript.exp.f64
// CHECK:         call @skript.log.4xf64
// CHECK:         call @skript.sin.f64
// CHECK:         call @skript.tan.4xf64
// CHECK:         call @skript.pow.f64
func.func @wide(%x: f32, %d: f64, %v: vector<4xf64>) -> (f32, f64, vector<4xf64>) {
  %0 = math.sin %x : f32
  %1 = math.cos %0 : f32
  %2 = math.tan %1 : f32
  %3 = math.asin %2 : f32
  %4 = math.acos %3 : f32
  %5 = math.atan %4 : f32
  %6 = math.sinh %5 : f32
  %7 = math.cosh %6 : f32
  %8 = math.asinh %7 : f32
  %9 = math.acosh %8 : f32
  %10 = math.atanh %9 : f32
  %11 = math.exp %d : f64
  %12 = math.log %v : vector<4xf64>
  %13 = math.sin %11 : f64
  %14 = math.tan %12 : vector<4xf64>
  %15 = math.powf %13, %11 : f64
  return %10, %15, %14 : f32, f64, vector<4xf64>
}

// CHECK-DAG:   func.func private @skript.exp.f32(%arg0: f32) -> f32 attributes {{.*}}alwaysinline
// CHECK-DAG:   func.func private @skript.tanh.8xf32(%arg0: vector<8xf32>) -> vector<8xf32>
// CHECK-DAG:   func.func private @skript.sin.f32(%arg0: f32) -> f32
// CHECK-DAG:   func.func private @skript.log.4xf64(%arg0: vector<4xf64>) -> vector<4xf64>
