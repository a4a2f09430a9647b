// RUN: skript-opt %s --skript-number-steps | FileCheck %s

// The kernel computes both marked operations, by its location: one step, with the operations of both, and the main
// operator first; the fill of another call has no name of its own. Nothing is left of the transposition, which was
// prepared.
// CHECK: module attributes {skript.profile = [{counted, kernel = "kernel_0", layout = "{{[0-9×]+}} row-major, packed 16{{[^"]+}}", operators = {{\[\[}}"m.sknd:5:3: conv"], ["m.sknd:6:3: relu"{{\]\]}}}]}
module {
  // CHECK-LABEL: func.func @merged
  // CHECK:         %[[OWN:.+]] = arith.addi %{{.+}}, %{{.+}} : index
  // CHECK-NEXT:    %[[SUM:.+]] = arith.addi %[[OWN]], %{{.+}} : index
  // CHECK-NEXT:    %[[ALL:.+]] = arith.addi %[[SUM]], %{{.+}} : index
  // CHECK:         %[[BYTES:.+]] = arith.constant 64 : index
  // CHECK:         %[[ONE:.+]] = arith.constant 1 : index
  // CHECK-NEXT:    call @skript_profile(%[[ONE]], %[[ALL]], %[[BYTES]]) : (index, index, index) -> ()
  // CHECK-NEXT:    call @kernel_0
  // CHECK:         call @skript_profile(%{{.+}}, %{{.+}}, %{{.+}}) : (index, index, index) -> ()
  // CHECK-NEXT:    return
  func.func @merged(%x: memref<8xf32>, %y: memref<8xf32>) attributes {skript.entry} {
    %zero = arith.constant 0 : index
    %many = arith.constant 1000 : index
    %few = arith.constant 8 : index
    call @skript_profile(%zero, %many, %zero) {skript.operators = [["m.sknd:5:3: conv"]], skript.weight = 1000 : i64} : (index, index, index) -> () loc("conv"("m.sknd":5:3))
    call @skript_profile(%zero, %few, %zero) {skript.operators = [["m.sknd:2:3: transpose"]], skript.weight = 0 : i64} : (index, index, index) -> () loc("transpose"("m.sknd":2:3))
    call @skript_profile(%zero, %zero, %zero) {skript.operators = [["m.sknd:9:3: conv"]], skript.weight = 0 : i64} : (index, index, index) -> () loc("conv"("m.sknd":9:3))
    call @skript_profile(%zero, %few, %zero) {skript.operators = [["m.sknd:6:3: relu"]], skript.weight = 8 : i64} : (index, index, index) -> () loc("relu"("m.sknd":6:3))
    call @kernel_0(%x, %y) : (memref<8xf32>, memref<8xf32>) -> () loc(fused<"packed 16×">["conv"("m.sknd":5:3), "conv"("m.sknd":9:3), "relu"("m.sknd":6:3)])
    call @skript_profile(%zero, %zero, %zero) : (index, index, index) -> ()
    return
  }
  func.func private @kernel_0(memref<8xf32>, memref<8xf32>)
  func.func private @skript_profile(index, index, index)
}
