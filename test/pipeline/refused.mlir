// RUN: skript-opt %s --skript-bufferize --skript-scf-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-bufferize --skript-linalg-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: skript-opt %s --skript-bufferize --skript-affine-to-llvm | mlir-runner -e main --entry-point-result=void --shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// A loop that bufferization refuses as it is: turn 0 keeps x and fills y, the others fill both.

func.func private @printF32(f32)
func.func private @printNewline()

func.func @fills(%a: tensor<2xf32>, %b: tensor<2xf32>, %n: i32) -> (tensor<2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<2xf32>
  %r:3 = scf.while (%x = %a, %y = %b, %i = %c0) : (tensor<2xf32>, tensor<2xf32>, i32) -> (tensor<2xf32>, tensor<2xf32>, i32) {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %x, %y, %i : tensor<2xf32>, tensor<2xf32>, i32
  } do {
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>, %i: i32):
    %first = arith.cmpi eq, %i, %c0 : i32
    %f = linalg.fill ins(%half : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %s:2 = scf.if %first -> (tensor<2xf32>, tensor<2xf32>) {
      scf.yield %x, %f : tensor<2xf32>, tensor<2xf32>
    } else {
      scf.yield %f, %f : tensor<2xf32>, tensor<2xf32>
    }
    %next = arith.addi %i, %c1 : i32
    scf.yield %s#0, %s#1, %next : tensor<2xf32>, tensor<2xf32>, i32
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  // CHECK:      1
  // CHECK-NEXT: 3
  // CHECK-NEXT: 1
  // CHECK-NEXT: 0.5
  // CHECK-NEXT: 0.5
  // CHECK-NEXT: 0.5
  scf.for %k = %c0 to %c3 step %c1 {
    %n = arith.index_cast %k : index to i32
    %r:2 = func.call @fills(%a, %b, %n) : (tensor<2xf32>, tensor<2xf32>, i32) -> (tensor<2xf32>, tensor<2xf32>)
    %p = tensor.extract %r#0[%c0] : tensor<2xf32>
    %q = tensor.extract %r#1[%c0] : tensor<2xf32>
    func.call @printF32(%p) : (f32) -> ()
    func.call @printNewline() : () -> ()
    func.call @printF32(%q) : (f32) -> ()
    func.call @printNewline() : () -> ()
  }
  return
}
