// RUN: skript-opt %s --skript-number-steps | FileCheck %s

// A choice of kernels is one step.
// CHECK: module attributes {skript.profile = [{counted, kernel = "kernel_0 or kernel_1", layout = "{{[0-9×]+}} row-major", operators = {{\[\[}}"m.sknd:5:3: conv"{{\]\]}}}]}
module {
  // CHECK-LABEL: func.func @choice
  // CHECK:         call @skript_profile
  // CHECK-NEXT:    scf.if
  func.func @choice(%x: memref<8xf32>, %y: memref<8xf32>, %finite: i1) attributes {skript.entry} {
    %zero = arith.constant 0 : index
    %many = arith.constant 1000 : index
    call @skript_profile(%zero, %many, %zero) {skript.operators = [["m.sknd:5:3: conv"]], skript.weight = 1000 : i64} : (index, index, index) -> () loc("conv"("m.sknd":5:3))
    scf.if %finite {
      func.call @kernel_0(%x, %y) : (memref<8xf32>, memref<8xf32>) -> () loc("conv"("m.sknd":5:3))
    } else {
      func.call @kernel_1(%x, %y) : (memref<8xf32>, memref<8xf32>) -> () loc("conv"("m.sknd":5:3))
    } loc("conv"("m.sknd":5:3))
    call @skript_profile(%zero, %zero, %zero) : (index, index, index) -> ()
    return
  }
  func.func private @kernel_0(memref<8xf32>, memref<8xf32>)
  func.func private @kernel_1(memref<8xf32>, memref<8xf32>)
  func.func private @skript_profile(index, index, index)
}
