// RUN: skript-opt %s --split-input-file --verify-diagnostics
// Constants whose elements are not of their type. Elements in decimal are numbers, those in hexadecimal are bits.

func.func @constant_c1_i8() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 128 is not an element of 'i8', whose elements are from -128 to 127}}
  %0 = stablehlo.constant dense<128> : tensor<i8>
  return
}

// -----

func.func @constant_c1_i8_below() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: -129 is not an element of 'i8', whose elements are from -128 to 127}}
  %0 = stablehlo.constant dense<[1, -129]> : tensor<2xi8>
  return
}

// -----

func.func @constant_c1_i4() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 8 is not an element of 'i4', whose elements are from -8 to 7}}
  %0 = stablehlo.constant dense<[[-8, 7], [8, 0]]> : tensor<2x2xi4>
  return
}

// -----

func.func @constant_c1_i16() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 32768 is not an element of 'i16', whose elements are from -32768 to 32767}}
  %0 = stablehlo.constant dense<32768> : tensor<3xi16>
  return
}

// -----

func.func @constant_c1_i32() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 4294967295 is not an element of 'i32', whose elements are from -2147483648 to 2147483647}}
  %0 = stablehlo.constant dense<4294967295> : tensor<i32>
  return
}

// -----

func.func @constant_c1_i64() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 9223372036854775808 is not an element of 'i64', whose elements are from -9223372036854775808 to 9223372036854775807}}
  %0 = stablehlo.constant dense<9223372036854775808> : tensor<i64>
  return
}

// -----

func.func @constant_c1_ui4() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 16 is not an element of 'ui4', whose elements are from 0 to 15}}
  %0 = stablehlo.constant dense<16> : tensor<ui4>
  return
}

// -----

func.func @constant_c1_ui8() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: -1 is not an element of 'ui8', whose elements are from 0 to 255}}
  %0 = stablehlo.constant dense<-1> : tensor<ui8>
  return
}

// -----

func.func @constant_c1_ui8_above() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 256 is not an element of 'ui8', whose elements are from 0 to 255}}
  %0 = stablehlo.constant dense<256> : tensor<ui8>
  return
}

// -----

func.func @constant_c1_ui64() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 18446744073709551616 is not an element of 'ui64', whose elements are from 0 to 18446744073709551615}}
  %0 = stablehlo.constant dense<18446744073709551616> : tensor<ui64>
  return
}

// -----

func.func @constant_c1_long() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: 999999999999999999999999999999999999999999999999999999999999 is not an element of 'i32', whose elements are from -2147483648 to 2147483647}}
  %0 = stablehlo.constant dense<999999999999999999999999999999999999999999999999999999999999> : tensor<i32>
  return
}

// -----

func.func @constant_c1_pred() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: -1 is not an element of 'i1', whose elements are from 0 to 1}}
  %0 = stablehlo.constant dense<-1> : tensor<i1>
  return
}

// -----

func.func @constant_c1_f32_pair() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: two numbers in parentheses are a complex one, no element of 'f32'}}
  %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<3xf32>
  return
}

// -----

func.func @constant_c1_f32_pairs() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: two numbers in parentheses are a complex one, no element of 'f32'}}
  %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xf32>
  return
}

// -----

func.func @constant_c1_bf16_pair() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: two numbers in parentheses are a complex one, no element of 'bf16'}}
  %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<bf16>
  return
}

// -----

func.func @constant_c1_i32_pair() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: two numbers in parentheses are a complex one, no element of 'i32'}}
  %0 = stablehlo.constant dense<[[(1, 2)]]> : tensor<1x1xi32>
  return
}

// -----

func.func @constant_c1_pred_pair() {
  // expected-error@+1 {{custom op 'stablehlo.constant' constant_c1: two numbers in parentheses are a complex one, no element of 'i1'}}
  %0 = stablehlo.constant dense<(true, false)> : tensor<2xi1>
  return
}

// -----

// The extremes are elements, and so are bits.
func.func @near_misses() {
  %0 = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
  %1 = stablehlo.constant dense<0xFF> : tensor<i8>
  %2 = stablehlo.constant dense<255> : tensor<ui8>
  %3 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %4 = stablehlo.constant dense<15> : tensor<ui4>
  %5 = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
  %6 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %7 = stablehlo.constant dense<"0x80FF"> : tensor<2xi8>
  %8 = stablehlo.constant dense<> : tensor<0xi8>
  %9 = stablehlo.constant dense<1> : tensor<i1>
  %10 = stablehlo.constant dense<(128.0, -129.0)> : tensor<complex<f32>>
  %11 = stablehlo.constant dense<1024.0> : tensor<f16>
  %12 = stablehlo.constant dense<[(1.0, -2.0), (300.0, 0.0)]> : tensor<2xcomplex<f64>>
  %13 = stablehlo.constant dense<[ // (of two)
    1.0, 2.0]> : tensor<2xf32>
  return
}

// -----

func.func @constant_c1_missing() {
  // expected-error@+1 {{'stablehlo.constant' op constant_c1: the elements of 'tensor<2xf32>' are `absent` of the file's resources, which do not have it: add it to `{-# dialect_resources: {builtin: {…}} #-}`, or write the elements as `dense<…>`}}
  %0 = stablehlo.constant dense_resource<absent> : tensor<2xf32>
  return
}
