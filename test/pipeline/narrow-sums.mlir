// RUN: skript-opt %s --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-affine-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// Of 4096 ones: a sum that is rounded at each step ends at 256 in bf16, and at 2048 in f16.

func.func private @printF32(f32)
func.func private @printNewline()

func.func @print(%x: f32) {
  func.call @printF32(%x) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4096xbf16>
  %half = arith.constant dense<1.0> : tensor<4096xf16>
  %b = arith.constant dense<0.0> : tensor<bf16>
  %h = arith.constant dense<0.0> : tensor<1xf16>
  %s = skript.formula sum (%i) in (4096) outs(%acc = %b : tensor<bf16>) do {
    %e = skript.access %one[%i] : tensor<4096xbf16>
    skript.yield %e at [] : bf16
  } : tensor<bf16>
  %t = skript.formula sum (%i) in (4096) outs(%acc = %h : tensor<1xf16>) do {
    %e = skript.access %half[%i] : tensor<4096xf16>
    %q = skript.mul %e, %e : f16
    skript.yield %q at [%c0] : f16
  } : tensor<1xf16>
  %x = tensor.extract %s[] : tensor<bf16>
  %y = tensor.extract %t[%c0] : tensor<1xf16>
  %xw = skript.cast %x : bf16 to f32
  %yw = skript.cast %y : f16 to f32
  // CHECK: 4096
  call @print(%xw) : (f32) -> ()
  // CHECK: 4096
  call @print(%yw) : (f32) -> ()
  return
}
