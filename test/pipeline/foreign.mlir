// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-affine-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// What formulas hold of other dialects: loops that read the accumulator, divisions that a guard protects, and indices that
// wrap in a narrow integer.

func.func private @printF32(f32)
func.func private @printI64(i64)
func.func private @printNewline()

// Each step adds twice what is there: 1, 3, 9, 27.
// CHECK: 27
func.func @accumulator() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %init = tensor.splat %one : tensor<f32>
  %y = skript.formula sum (%i) in (3) outs(%acc = %init : tensor<f32>) do {
    %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%s = %zero) -> f32 {
      %v = skript.access %acc[] : tensor<f32>
      %t = skript.add %s, %v : f32
      scf.yield %t : f32
    }
    skript.yield %r at [] : f32
  } : tensor<f32>
  %e = tensor.extract %y[] : tensor<f32>
  func.call @printF32(%e) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}

// 100 / 5 + 100 / 10; what is not divided is no crash. Then in a branch.
// CHECK: 30
// CHECK: 30
func.func @quotients(%x: tensor<4xi64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %hundred = arith.constant 100 : i64
  %init = tensor.splat %zero : tensor<1xi64>
  %y = skript.formula sum (%i) in (4) outs(%acc = %init : tensor<1xi64>) where {
    %v = skript.access %x[%i] : tensor<4xi64>
    %some = skript.ne %v, %zero : i64
    skript.condition %some
  } do {
    %v = skript.access %x[%i] : tensor<4xi64>
    %q = arith.divsi %hundred, %v : i64
    skript.yield %q at [%c0] : i64
  } : tensor<1xi64>
  %e = tensor.extract %y[%c0] : tensor<1xi64>
  func.call @printI64(%e) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %z = skript.formula sum (%i) in (4) outs(%acc = %init : tensor<1xi64>) do {
    %v = skript.access %x[%i] : tensor<4xi64>
    %some = skript.ne %v, %zero : i64
    %q = scf.if %some -> i64 {
      %r = arith.divsi %hundred, %v : i64
      scf.yield %r : i64
    } else {
      scf.yield %zero : i64
    }
    skript.yield %q at [%c0] : i64
  } : tensor<1xi64>
  %f = tensor.extract %z[%c0] : tensor<1xi64>
  func.call @printI64(%f) : (i64) -> ()
  func.call @printNewline() : () -> ()
  return
}

// A cast gives the nearest of 8 bits, and none of 0 … 299 is negative; products and sums wrap, to 0 … 127 and 256 … 299.
// CHECK: 300
// CHECK: 172
func.func @wrapped() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %zero8 = arith.constant 0 : i8
  %ten8 = arith.constant 10 : i8
  %init = tensor.splat %zero : tensor<1xi64>
  %y = skript.formula sum (%i) in (300) outs(%acc = %init : tensor<1xi64>) where {
    %p = skript.cast %i : index to i8
    %a = skript.ge %p, %zero8 : i8
    skript.condition %a
  } do {
    skript.yield %one at [%c0] : i64
  } : tensor<1xi64>
  %e = tensor.extract %y[%c0] : tensor<1xi64>
  func.call @printI64(%e) : (i64) -> ()
  func.call @printNewline() : () -> ()
  // Casts that fit, and a last step that does not.
  %z = skript.formula sum (%i, %j) in (30, 10) outs(%acc = %init : tensor<1xi64>) where {
    %p = skript.cast %i : index to i8
    %q = skript.cast %j : index to i8
    %tens = skript.mul %p, %ten8 : i8
    %both = skript.add %tens, %q : i8
    %a = skript.ge %both, %zero8 : i8
    skript.condition %a
  } do {
    skript.yield %one at [%c0] : i64
  } : tensor<1xi64>
  %f = tensor.extract %z[%c0] : tensor<1xi64>
  func.call @printI64(%f) : (i64) -> ()
  func.call @printNewline() : () -> ()
  return
}

// Powers of ints: (-3)^5, 2^-1 rounds to 0.
// CHECK: -243
// CHECK: 0
func.func @powers(%a: i64, %b: i64) {
  %five = arith.constant 5 : i64
  %less = arith.constant -1 : i64
  %p = skript.pow %a, %five : i64
  %q = skript.pow %b, %less : i64
  func.call @printI64(%p) : (i64) -> ()
  func.call @printNewline() : () -> ()
  func.call @printI64(%q) : (i64) -> ()
  func.call @printNewline() : () -> ()
  return
}

func.func @main() {
  %x = arith.constant dense<[5, 0, 10, 0]> : tensor<4xi64>
  %a = arith.constant -3 : i64
  %b = arith.constant 2 : i64
  func.call @accumulator() : () -> ()
  func.call @quotients(%x) : (tensor<4xi64>) -> ()
  func.call @wrapped() : () -> ()
  func.call @powers(%a, %b) : (i64, i64) -> ()
  return
}
