// RUN: skript-opt %s | skript-opt | FileCheck %s
// RUN: skript-opt %s --mlir-print-op-generic | skript-opt | FileCheck %s
// Every operation of the draft on every family of element types that it takes.

// CHECK-LABEL: func.func @abs
func.func @abs(%x0: tensor<2x?xi4>, %x1: tensor<2xui8>, %x2: tensor<2xf32>, %x3: tensor<2xcomplex<f64>>) {
  // CHECK: stablehlo.abs %{{.+}} : tensor<2x?xi4>
  %0 = stablehlo.abs %x0 : tensor<2x?xi4>
  // CHECK: stablehlo.abs %{{.+}} : tensor<2xui8>
  %1 = stablehlo.abs %x1 : tensor<2xui8>
  // CHECK: stablehlo.abs %{{.+}} : tensor<2xf32>
  %2 = stablehlo.abs %x2 : tensor<2xf32>
  // CHECK: stablehlo.abs %{{.+}} : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  %3 = stablehlo.abs %x3 : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @add
func.func @add(%x0: tensor<2x?xi64>, %x1: tensor<2xui4>, %x2: tensor<2xf32>, %x3: tensor<2xcomplex<f64>>) {
  // CHECK: stablehlo.add %{{.+}}, %{{.+}} : tensor<2x?xi64>
  %0 = stablehlo.add %x0, %x0 : tensor<2x?xi64>
  // CHECK: stablehlo.add %{{.+}}, %{{.+}} : tensor<2xui4>
  %1 = stablehlo.add %x1, %x1 : tensor<2xui4>
  // CHECK: stablehlo.add %{{.+}}, %{{.+}} : tensor<2xf32>
  %2 = stablehlo.add %x2, %x2 : tensor<2xf32>
  // CHECK: stablehlo.add %{{.+}}, %{{.+}} : tensor<2xcomplex<f64>>
  %3 = stablehlo.add %x3, %x3 : tensor<2xcomplex<f64>>
  return
}

// CHECK-LABEL: func.func @and
func.func @and(%x0: tensor<2x?xi1>, %x1: tensor<2xi64>, %x2: tensor<2xui4>) {
  // CHECK: stablehlo.and %{{.+}}, %{{.+}} : tensor<2x?xi1>
  %0 = stablehlo.and %x0, %x0 : tensor<2x?xi1>
  // CHECK: stablehlo.and %{{.+}}, %{{.+}} : tensor<2xi64>
  %1 = stablehlo.and %x1, %x1 : tensor<2xi64>
  // CHECK: stablehlo.and %{{.+}}, %{{.+}} : tensor<2xui4>
  %2 = stablehlo.and %x2, %x2 : tensor<2xui4>
  return
}

// CHECK-LABEL: func.func @ceil
func.func @ceil(%x0: tensor<2x?xf64>) {
  // CHECK: stablehlo.ceil %{{.+}} : tensor<2x?xf64>
  %0 = stablehlo.ceil %x0 : tensor<2x?xf64>
  return
}

// CHECK-LABEL: func.func @cosine
func.func @cosine(%x0: tensor<2x?xf16>, %x1: tensor<2xcomplex<f64>>) {
  // CHECK: stablehlo.cosine %{{.+}} : tensor<2x?xf16>
  %0 = stablehlo.cosine %x0 : tensor<2x?xf16>
  // CHECK: stablehlo.cosine %{{.+}} : tensor<2xcomplex<f64>>
  %1 = stablehlo.cosine %x1 : tensor<2xcomplex<f64>>
  return
}

// CHECK-LABEL: func.func @floor
func.func @floor(%x0: tensor<2x?xf32>) {
  // CHECK: stablehlo.floor %{{.+}} : tensor<2x?xf32>
  %0 = stablehlo.floor %x0 : tensor<2x?xf32>
  return
}

// CHECK-LABEL: func.func @log
func.func @log(%x0: tensor<2x?xf64>, %x1: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.log %{{.+}} : tensor<2x?xf64>
  %0 = stablehlo.log %x0 : tensor<2x?xf64>
  // CHECK: stablehlo.log %{{.+}} : tensor<2xcomplex<f32>>
  %1 = stablehlo.log %x1 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @logistic
func.func @logistic(%x0: tensor<2x?xbf16>, %x1: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.logistic %{{.+}} : tensor<2x?xbf16>
  %0 = stablehlo.logistic %x0 : tensor<2x?xbf16>
  // CHECK: stablehlo.logistic %{{.+}} : tensor<2xcomplex<f32>>
  %1 = stablehlo.logistic %x1 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @maximum
func.func @maximum(%x0: tensor<2x?xi64>, %x1: tensor<2xui4>, %x2: tensor<2xbf16>, %x3: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.maximum %{{.+}}, %{{.+}} : tensor<2x?xi64>
  %0 = stablehlo.maximum %x0, %x0 : tensor<2x?xi64>
  // CHECK: stablehlo.maximum %{{.+}}, %{{.+}} : tensor<2xui4>
  %1 = stablehlo.maximum %x1, %x1 : tensor<2xui4>
  // CHECK: stablehlo.maximum %{{.+}}, %{{.+}} : tensor<2xbf16>
  %2 = stablehlo.maximum %x2, %x2 : tensor<2xbf16>
  // CHECK: stablehlo.maximum %{{.+}}, %{{.+}} : tensor<2xcomplex<f32>>
  %3 = stablehlo.maximum %x3, %x3 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @minimum
func.func @minimum(%x0: tensor<2x?xi32>, %x1: tensor<2xui64>, %x2: tensor<2xbf16>, %x3: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.minimum %{{.+}}, %{{.+}} : tensor<2x?xi32>
  %0 = stablehlo.minimum %x0, %x0 : tensor<2x?xi32>
  // CHECK: stablehlo.minimum %{{.+}}, %{{.+}} : tensor<2xui64>
  %1 = stablehlo.minimum %x1, %x1 : tensor<2xui64>
  // CHECK: stablehlo.minimum %{{.+}}, %{{.+}} : tensor<2xbf16>
  %2 = stablehlo.minimum %x2, %x2 : tensor<2xbf16>
  // CHECK: stablehlo.minimum %{{.+}}, %{{.+}} : tensor<2xcomplex<f32>>
  %3 = stablehlo.minimum %x3, %x3 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @negate
func.func @negate(%x0: tensor<2x?xi16>, %x1: tensor<2xui32>, %x2: tensor<2xbf16>, %x3: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.negate %{{.+}} : tensor<2x?xi16>
  %0 = stablehlo.negate %x0 : tensor<2x?xi16>
  // CHECK: stablehlo.negate %{{.+}} : tensor<2xui32>
  %1 = stablehlo.negate %x1 : tensor<2xui32>
  // CHECK: stablehlo.negate %{{.+}} : tensor<2xbf16>
  %2 = stablehlo.negate %x2 : tensor<2xbf16>
  // CHECK: stablehlo.negate %{{.+}} : tensor<2xcomplex<f32>>
  %3 = stablehlo.negate %x3 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @not
func.func @not(%x0: tensor<2x?xi1>, %x1: tensor<2xi16>, %x2: tensor<2xui32>) {
  // CHECK: stablehlo.not %{{.+}} : tensor<2x?xi1>
  %0 = stablehlo.not %x0 : tensor<2x?xi1>
  // CHECK: stablehlo.not %{{.+}} : tensor<2xi16>
  %1 = stablehlo.not %x1 : tensor<2xi16>
  // CHECK: stablehlo.not %{{.+}} : tensor<2xui32>
  %2 = stablehlo.not %x2 : tensor<2xui32>
  return
}

// CHECK-LABEL: func.func @or
func.func @or(%x0: tensor<2x?xi1>, %x1: tensor<2xi4>, %x2: tensor<2xui8>) {
  // CHECK: stablehlo.or %{{.+}}, %{{.+}} : tensor<2x?xi1>
  %0 = stablehlo.or %x0, %x0 : tensor<2x?xi1>
  // CHECK: stablehlo.or %{{.+}}, %{{.+}} : tensor<2xi4>
  %1 = stablehlo.or %x1, %x1 : tensor<2xi4>
  // CHECK: stablehlo.or %{{.+}}, %{{.+}} : tensor<2xui8>
  %2 = stablehlo.or %x2, %x2 : tensor<2xui8>
  return
}

// CHECK-LABEL: func.func @rsqrt
func.func @rsqrt(%x0: tensor<2x?xbf16>, %x1: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.rsqrt %{{.+}} : tensor<2x?xbf16>
  %0 = stablehlo.rsqrt %x0 : tensor<2x?xbf16>
  // CHECK: stablehlo.rsqrt %{{.+}} : tensor<2xcomplex<f32>>
  %1 = stablehlo.rsqrt %x1 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @sine
func.func @sine(%x0: tensor<2x?xf64>, %x1: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.sine %{{.+}} : tensor<2x?xf64>
  %0 = stablehlo.sine %x0 : tensor<2x?xf64>
  // CHECK: stablehlo.sine %{{.+}} : tensor<2xcomplex<f32>>
  %1 = stablehlo.sine %x1 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @sqrt
func.func @sqrt(%x0: tensor<2x?xbf16>, %x1: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.sqrt %{{.+}} : tensor<2x?xbf16>
  %0 = stablehlo.sqrt %x0 : tensor<2x?xbf16>
  // CHECK: stablehlo.sqrt %{{.+}} : tensor<2xcomplex<f32>>
  %1 = stablehlo.sqrt %x1 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @tanh
func.func @tanh(%x0: tensor<2x?xf64>, %x1: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.tanh %{{.+}} : tensor<2x?xf64>
  %0 = stablehlo.tanh %x0 : tensor<2x?xf64>
  // CHECK: stablehlo.tanh %{{.+}} : tensor<2xcomplex<f32>>
  %1 = stablehlo.tanh %x1 : tensor<2xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @xor
func.func @xor(%x0: tensor<2x?xi1>, %x1: tensor<2xi8>, %x2: tensor<2xui16>) {
  // CHECK: stablehlo.xor %{{.+}}, %{{.+}} : tensor<2x?xi1>
  %0 = stablehlo.xor %x0, %x0 : tensor<2x?xi1>
  // CHECK: stablehlo.xor %{{.+}}, %{{.+}} : tensor<2xi8>
  %1 = stablehlo.xor %x1, %x1 : tensor<2xi8>
  // CHECK: stablehlo.xor %{{.+}}, %{{.+}} : tensor<2xui16>
  %2 = stablehlo.xor %x2, %x2 : tensor<2xui16>
  return
}

// Constants: decimal, exponential and hexadecimal floats, negative and unsigned integers, preds, complex numbers.
// CHECK-LABEL: func.func @constant
func.func @constant() {
  // CHECK: stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: stablehlo.constant dense<-7> : tensor<3xi4>
  %1 = stablehlo.constant dense<-7> : tensor<3xi4>
  // CHECK: stablehlo.constant dense<[15, 0]> : tensor<2xui4>
  %2 = stablehlo.constant dense<[15, 0]> : tensor<2xui4>
  // CHECK: stablehlo.constant dense<1.234210e+02> : tensor<3xf32>
  %3 = stablehlo.constant dense<[123.421, 1.23421e+2, 0x42F6D78D]> : tensor<3xf32>
  // CHECK: stablehlo.constant dense<(1.234000e+01,5.678000e+01)> : tensor<complex<f64>>
  %4 = stablehlo.constant dense<(12.34, 56.78)> : tensor<complex<f64>>
  // CHECK: stablehlo.constant dense<0x7FC0> : tensor<bf16>
  %5 = stablehlo.constant dense<0x7FC0> : tensor<bf16>
  // CHECK: stablehlo.constant dense<> : tensor<0x4xf16>
  %6 = stablehlo.constant dense<> : tensor<0x4xf16>
  // CHECK: stablehlo.constant dense<2> : tensor<i32>
  %7 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  return
}

// The draft's carrier of programs.
// CHECK-LABEL: ml_program.func @example_func
ml_program.func @example_func(%arg: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // CHECK: %[[FLOOR:.+]] = stablehlo.floor
  %1 = stablehlo.floor %arg : tensor<4x16xf32>
  // CHECK: %[[CEIL:.+]] = stablehlo.ceil
  %2 = stablehlo.ceil %arg : tensor<4x16xf32>
  // CHECK: stablehlo.add %[[FLOOR]], %[[CEIL]] : tensor<4x16xf32>
  %3 = stablehlo.add %1, %2 : tensor<4x16xf32>
  ml_program.return %3 : tensor<4x16xf32>
}
