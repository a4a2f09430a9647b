// RUN: skript-opt %s --convert-stablehlo-scalar-to-arith | FileCheck %s

// CHECK-LABEL: func.func @signs
// CHECK-DAG: arith.maxsi
// CHECK-DAG: arith.maxui
func.func @signs(%x: i8, %u: ui8) -> (i8, ui8) {
  %0 = stablehlo.maximum %x, %x : i8
  %1 = stablehlo.maximum %u, %u : ui8
  return %0, %1 : i8, ui8
}

// The division never has a zero divisor, and never overflows for the minimum.
// CHECK-LABEL: func.func @divide
// CHECK: %[[D:.+]] = arith.select %{{.+}}, %{{.+}}, %arg1 : i32
// CHECK: arith.divsi %arg0, %[[D]] : i32
func.func @divide(%x: i32, %y: i32) -> i32 {
  %0 = stablehlo.divide %x, %y : i32
  return %0 : i32
}

// Half precision is computed in f32; bf16 by bits.
// CHECK-LABEL: func.func @halves
// CHECK: arith.extf %{{.+}} : f16 to f32
// CHECK: math.tanh %{{.+}} : f32
// CHECK: arith.truncf %{{.+}} : f32 to f16
// CHECK: arith.bitcast %{{.+}} : bf16 to i16
// CHECK-NOT: arith.truncf
func.func @halves(%x: f16, %y: bf16) -> (f16, bf16) {
  %0 = stablehlo.tanh %x : f16
  %1 = stablehlo.add %y, %y : bf16
  return %0, %1 : f16, bf16
}

// CHECK-LABEL: func.func @order
// CHECK: arith.cmpf olt
// CHECK: arith.cmpi slt
// CHECK: arith.cmpi ult
func.func @order(%x: f32, %u: ui16) -> (i1, i1, i1) {
  %0 = stablehlo.compare LT, %x, %x, FLOAT : (f32, f32) -> i1
  %1 = stablehlo.compare LT, %x, %x, TOTALORDER : (f32, f32) -> i1
  %2 = stablehlo.compare LT, %u, %u, UNSIGNED : (ui16, ui16) -> i1
  return %0, %1, %2 : i1, i1, i1
}

// If the real parts are equal, the imaginary parts are compared.
// CHECK-LABEL: func.func @order_of_pairs
// CHECK-DAG: %[[LAST:.+]] = arith.cmpf ole
// CHECK-DAG: %[[FIRST:.+]] = arith.cmpf olt
// CHECK-DAG: %[[SAME:.+]] = arith.cmpf oeq
// CHECK: %[[BOTH:.+]] = arith.andi %[[SAME]], %[[LAST]]
// CHECK: arith.ori %[[FIRST]], %[[BOTH]]
func.func @order_of_pairs(%x: complex<f32>, %y: complex<f32>) -> i1 {
  %0 = stablehlo.compare LE, %x, %y : (complex<f32>, complex<f32>) -> i1
  return %0 : i1
}

// CHECK-LABEL: func.func @pairs
// CHECK: complex.abs
func.func @pairs(%x: complex<f64>) -> f64 {
  %0 = stablehlo.abs %x : (complex<f64>) -> f64
  return %0 : f64
}

// Only precisions narrower than the type round.
// CHECK-LABEL: func.func @precision
// CHECK-DAG: arith.constant 32767 : i32
// CHECK-DAG: arith.constant -65536 : i32
// CHECK: arith.bitcast %{{.+}} : i32 to f32
// CHECK-NOT: arith.addi
// CHECK: arith.bitcast %{{.+}} : i16 to f16
func.func @precision(%x: f32, %y: f16) -> (f32, f16) {
  %0 = stablehlo.reduce_precision %x, format = e8m7 : f32
  %1 = stablehlo.reduce_precision %y, format = e4m10 : f16
  return %0, %1 : f32, f16
}

// Complex functions are computed from parts, not in polar form: the real part of a root does not use a cosine.
// CHECK-LABEL: func.func @principal
// CHECK-NOT: math.cos
// CHECK: math.sqrt
// CHECK: math.copysign
// CHECK: complex.create
func.func @principal(%x: complex<f32>) -> complex<f32> {
  %0 = stablehlo.sqrt %x : complex<f32>
  return %0 : complex<f32>
}
