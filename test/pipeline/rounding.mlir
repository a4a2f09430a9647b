// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// A remainder is exact, and a cast rounds once.

func.func private @printF32(f32)
func.func private @printI64(i64)
func.func private @printNewline()

// Not inlined into the constants that call it: folders are not what this is about.
func.func @mod(%x: f32, %y: f32) attributes {no_inline} {
  %m = skript.mod %x, %y : f32
  func.call @printF32(%m) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}

// The bits of a bf16 number.
func.func @half(%x: f64) attributes {no_inline} {
  %h = skript.cast %x : f64 to bf16
  %b = arith.bitcast %h : bf16 to i16
  %i = arith.extui %b : i16 to i64
  func.call @printI64(%i) : (i64) -> ()
  func.call @printNewline() : () -> ()
  return
}

// bf16, f16 and back: f16 holds every bf16 between 2^-14 and 2^16.
func.func @there(%x: f64) attributes {no_inline} {
  %b = skript.cast %x : f64 to bf16
  %h = skript.cast %b : bf16 to f16
  %c = skript.cast %h : f16 to bf16
  %d = skript.cast %c : bf16 to f64
  %f = skript.cast %d : f64 to f32
  func.call @printF32(%f) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}

func.func @main() {
  // 10^10 is a multiple of 3 and 1; f32 holds it, but not the quotient. Quotient and product in f32 would leave 0.
  // CHECK: {{^}}1{{$}}
  %ten = arith.constant 1.0e10 : f32
  %three = arith.constant 3.0 : f32
  call @mod(%ten, %three) : (f32, f32) -> ()

  // 1 + 2^-8 is half-way from 1 (0x3F80) to the next bf16; a little more belongs to that one, a little less to 1.
  // CHECK-NEXT: 16257
  %up = arith.constant 1.003906250931322574615478515625 : f64
  call @half(%up) : (f64) -> ()
  // CHECK-NEXT: 16256
  %tie = arith.constant 1.00390625 : f64
  call @half(%tie) : (f64) -> ()
  // CHECK-NEXT: 16256
  %below = arith.constant 1.003906249068677425384521484375 : f64
  call @half(%below) : (f64) -> ()
  // 1 + 3 * 2^-8 - 2^-30 is nearer to 0x3F81, a tie goes to 0x3F82; negative numbers alike.
  // CHECK-NEXT: 16257
  %less = arith.constant 1.011718749068677425384521484375 : f64
  call @half(%less) : (f64) -> ()
  // CHECK-NEXT: 49025
  %minus = arith.constant -1.011718749068677425384521484375 : f64
  call @half(%minus) : (f64) -> ()
  // Beyond the largest bf16, and beyond the largest f32: infinity. Far below the least: zero of the same sign.
  // CHECK-NEXT: 32640
  %large = arith.constant 3.4028234663852886e38 : f64
  call @half(%large) : (f64) -> ()
  // CHECK-NEXT: 32640
  %huge = arith.constant 1.0e300 : f64
  call @half(%huge) : (f64) -> ()
  // CHECK-NEXT: 32768
  %tiny = arith.constant -1.0e-300 : f64
  call @half(%tiny) : (f64) -> ()

  // CHECK-NEXT: -1.5
  %x = arith.constant -1.5 : f64
  call @there(%x) : (f64) -> ()
  return
}
