// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// A remainder is exact, a cast rounds once, and so do operations of bf16, those with results below its normal numbers too.

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

// A quotient, a product and a sum of numbers given by their bits, as the folders have them.
func.func @computed(%x: i16, %y: i16) attributes {no_inline} {
  %a = arith.bitcast %x : i16 to bf16
  %b = arith.bitcast %y : i16 to bf16
  %q = skript.div %a, %b : bf16
  %p = skript.mul %a, %b : bf16
  %s = skript.add %a, %b : bf16
  %qi = arith.bitcast %q : bf16 to i16
  %pi = arith.bitcast %p : bf16 to i16
  %si = arith.bitcast %s : bf16 to i16
  %qw = arith.extui %qi : i16 to i64
  %pw = arith.extui %pi : i16 to i64
  %sw = arith.extui %si : i16 to i64
  func.call @printI64(%qw) : (i64) -> ()
  func.call @printNewline() : () -> ()
  func.call @printI64(%pw) : (i64) -> ()
  func.call @printNewline() : () -> ()
  func.call @printI64(%sw) : (i64) -> ()
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

  // 2^-125 and 3: a third of it is 85 * 2^-133, with the bits 85. Two numbers of 65 and -33 units of 2^-133: their product is
  // far below one, their sum 32.
  // CHECK-NEXT: 85
  // CHECK-NEXT: 448
  // CHECK-NEXT: 16448
  %normal = arith.constant 0x0100 : i16
  %thrice = arith.constant 0x4040 : i16
  call @computed(%normal, %thrice) : (i16, i16) -> ()
  // CHECK-NEXT: 49148
  // CHECK-NEXT: 32768
  // CHECK-NEXT: 32
  %units = arith.constant 0x0041 : i16
  %others = arith.constant 0x8021 : i16
  call @computed(%units, %others) : (i16, i16) -> ()
  return
}
