// RUN: skript-opt %s --skript-expand-math=scales=true | FileCheck %s
// RUN: skript-opt %s --skript-expand-math | FileCheck %s --check-prefix=WITHOUT

// One instruction multiplies by a power of two, or two products do. Of whole vectors, the exponent is the real that was rounded.
// CHECK-LABEL: func.func private @skript.exp.f32
// CHECK:         %[[N:.+]] = arith.subi
// CHECK-NEXT:    %[[Y:.+]] = llvm.call_intrinsic "llvm.ldexp"(%{{.+}}, %[[N]]) : (f32, i32) -> f32
// CHECK-NEXT:    return %[[Y]]
// CHECK-LABEL: func.func private @skript.exp.8xf32
// CHECK:         %[[N:.+]] = arith.subf {{.+}} : vector<8xf32>
// CHECK:         %[[Y:.+]] = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.256"(%[[X:.+]], %[[N]], %[[X]], %{{.+}}) : (vector<8xf32>, vector<8xf32>, vector<8xf32>, i8) -> vector<8xf32>
// CHECK-NEXT:    return %[[Y]]
// CHECK-LABEL: func.func private @skript.exp.16xf32
// CHECK:         %[[N:.+]] = arith.subf {{.+}} : vector<16xf32>
// CHECK:         %[[Y:.+]] = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[X:.+]], %[[N]], %[[X]], %{{.+}}, %{{.+}}) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, i16, i32) -> vector<16xf32>
// CHECK-NEXT:    return %[[Y]]
// WITHOUT-NOT: ldexp
// WITHOUT-NOT: scalef
// WITHOUT:     arith.shrsi
func.func @model(%s: f32, %u: vector<8xf32>, %v: vector<16xf32>) -> (f32, vector<8xf32>, vector<16xf32>) {
  %a = math.exp %s : f32
  %b = math.exp %u : vector<8xf32>
  %c = math.exp %v : vector<16xf32>
  return %a, %b, %c : f32, vector<8xf32>, vector<16xf32>
}
