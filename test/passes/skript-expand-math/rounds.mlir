// RUN: skript-opt %s --skript-expand-math=rounds=true | FileCheck %s
// RUN: skript-opt %s --skript-expand-math | FileCheck %s --check-prefix=WITHOUT

// The conversion of processors rounds by their mode, which is that to the nearest integer. What is rounded and stays a real keeps its operation.
// CHECK-LABEL: func.func @model
// CHECK:         %[[A:.+]] = llvm.intr.rint
// CHECK-NEXT:    arith.fptosi %[[A]] : f32 to i32
// CHECK:         %[[B:.+]] = llvm.intr.rint{{.*}} : (vector<8xf32>) -> vector<8xf32>
// CHECK-NEXT:    arith.fptosi %[[B]] : vector<8xf32> to vector<8xi32>
// CHECK:         math.roundeven
// CHECK:         math.roundeven
// WITHOUT-NOT:   llvm.intr.rint
func.func @model(%s: f32, %v: vector<8xf32>, %d: f64) -> (i32, vector<8xi32>, f32, i32) {
  %a = math.roundeven %s : f32
  %i = arith.fptosi %a : f32 to i32
  %b = math.roundeven %v : vector<8xf32>
  %j = arith.fptosi %b : vector<8xf32> to vector<8xi32>
  %c = arith.addf %s, %s : f32
  %r = math.roundeven %c : f32
  %e = math.roundeven %d : f64
  %k = arith.fptosi %e : f64 to i32
  return %i, %j, %r, %k : i32, vector<8xi32>, f32, i32
}
