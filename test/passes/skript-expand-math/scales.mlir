// RUN: skript-opt %s --skript-expand-math=scales=true | FileCheck %s
// RUN: skript-opt %s --skript-expand-math | FileCheck %s --check-prefix=WITHOUT

// One instruction multiplies by a power of two, or two products do.
// CHECK-LABEL: func.func private @skript.exp.16xf32
// CHECK:         %[[N:.+]] = arith.subi
// CHECK-NEXT:    %[[Y:.+]] = llvm.call_intrinsic "llvm.ldexp"(%{{.+}}, %[[N]]) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK-NEXT:    return %[[Y]]
// WITHOUT-NOT: ldexp
// WITHOUT:     arith.shrsi
func.func @model(%v: vector<16xf32>) -> vector<16xf32> {
  %a = math.exp %v : vector<16xf32>
  return %a : vector<16xf32>
}
