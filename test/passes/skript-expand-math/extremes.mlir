// RUN: skript-opt %s --skript-expand-math=ranges=true | FileCheck %s
// RUN: skript-opt %s --skript-expand-math | FileCheck %s --check-prefix=WITHOUT

// One instruction of AVX-512 and a test for NaN, or two selections. LLVM has the same of scalars.
// CHECK-LABEL: func.func @extremes
// CHECK:         arith.maximumf %arg1, %arg1 : f32
// CHECK-LABEL: func.func private @skript.min.8xf64
// CHECK:         call_intrinsic "llvm.x86.avx512.mask.range.pd.512"(%arg0, %arg1, %c4_i32,
// CHECK-LABEL: func.func private @skript.max.8xf32
// CHECK:         arith.andi
// CHECK-LABEL: func.func private @skript.max.16xf32
// CHECK:         %[[Y:.+]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%arg0, %arg1, %c5_i32,
// CHECK:         %[[NAN:.+]] = arith.cmpf uno, %arg0, %arg1
// CHECK:         arith.select %[[NAN]], %{{.+}}, %[[Y]]
// WITHOUT-NOT: call_intrinsic
// WITHOUT-LABEL: func.func private @skript.min.8xf64
// WITHOUT-COUNT-2: arith.cmpf olt
// WITHOUT:       arith.ori
// WITHOUT:       arith.cmpf uno
func.func @extremes(%v: vector<16xf32>, %x: f32, %d: vector<8xf64>, %w: vector<8xf32>)
    -> (vector<16xf32>, f32, vector<8xf64>, vector<8xf32>) {
  %0 = arith.maximumf %v, %v : vector<16xf32>
  %1 = arith.maximumf %x, %x : f32
  %2 = arith.minimumf %d, %d : vector<8xf64>
  %3 = arith.maximumf %w, %w : vector<8xf32>
  return %0, %1, %2, %3 : vector<16xf32>, f32, vector<8xf64>, vector<8xf32>
}
