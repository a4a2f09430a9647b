// RUN: skript-opt %s --skript-expand-math=extremes=ranges | FileCheck %s
// RUN: skript-opt %s --skript-expand-math=extremes=selections | FileCheck %s --check-prefix=SELECTIONS
// RUN: skript-opt %s --skript-expand-math | FileCheck %s --check-prefix=OPERATIONS

// One instruction of AVX-512 and a test for NaN, or two selections. LLVM has the same of scalars.
// CHECK-LABEL: func.func @extremes
// CHECK:         arith.maximumf %arg1, %arg1 : f32
// SELECTIONS-LABEL: func.func @extremes
// OPERATIONS-LABEL: func.func @extremes
// OPERATIONS-COUNT-4: arith.m{{..}}imumf
func.func @extremes(%v: vector<16xf32>, %x: f32, %d: vector<8xf64>, %w: vector<8xf32>)
    -> (vector<16xf32>, f32, vector<8xf64>, vector<8xf32>) {
  %0 = arith.maximumf %v, %v : vector<16xf32>
  %1 = arith.maximumf %x, %x : f32
  %2 = arith.minimumf %d, %d : vector<8xf64>
  %3 = arith.maximumf %w, %w : vector<8xf32>
  return %0, %1, %2, %3 : vector<16xf32>, f32, vector<8xf64>, vector<8xf32>
}

// A chain tests two operands for NaN at once; the last one alone if their number is odd.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[A:.+]]: vector<16xf32>, %[[B:.+]]: vector<16xf32>, %[[C:.+]]: vector<16xf32>, %[[D:.+]]: vector<16xf32>, %[[E:.+]]: vector<16xf32>)
// CHECK:         %[[AB:.+]] = arith.cmpf ord, %[[A]], %[[B]]
// CHECK:         %[[M1:.+]] = call @skript.max_of_numbers.16xf32(%[[A]], %[[B]])
// CHECK:         %[[M2:.+]] = call @skript.max_of_numbers.16xf32(%[[M1]], %[[C]])
// CHECK:         %[[CD:.+]] = arith.cmpf ord, %[[C]], %[[D]]
// CHECK:         %[[ABCD:.+]] = arith.andi %[[AB]], %[[CD]]
// CHECK:         %[[M3:.+]] = call @skript.max_of_numbers.16xf32(%[[M2]], %[[D]])
// CHECK:         %[[M4:.+]] = call @skript.max_of_numbers.16xf32(%[[M3]], %[[E]])
// CHECK:         %[[ENAN:.+]] = arith.cmpf ord, %[[E]], %[[E]]
// CHECK:         %[[ALL:.+]] = arith.andi %[[ABCD]], %[[ENAN]]
// CHECK:         %[[NAN:.+]] = arith.constant dense<0x7FC00000>
// CHECK:         %[[Y:.+]] = arith.select %[[ALL]], %[[M4]], %[[NAN]]
// CHECK:         return %[[Y]]
// OPERATIONS-LABEL: func.func @chain
// OPERATIONS-COUNT-4: arith.maximumf
func.func @chain(%a: vector<16xf32>, %b: vector<16xf32>, %c: vector<16xf32>, %d: vector<16xf32>, %e: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.maximumf %a, %b : vector<16xf32>
  %1 = arith.maximumf %0, %c : vector<16xf32>
  %2 = arith.maximumf %d, %1 : vector<16xf32>
  %3 = arith.maximumf %2, %e : vector<16xf32>
  return %3 : vector<16xf32>
}

// A value that is used twice is the end of a chain, and the operand of another one.
// CHECK-LABEL: func.func @used
// CHECK:         %[[A:.+]] = call @skript.min.8xf64(
// CHECK:         %[[B:.+]] = call @skript.min.8xf64(%[[A]],
// CHECK:         return %[[A]], %[[B]]
func.func @used(%a: vector<8xf64>, %b: vector<8xf64>) -> (vector<8xf64>, vector<8xf64>) {
  %0 = arith.minimumf %a, %b : vector<8xf64>
  %1 = arith.minimumf %0, %b : vector<8xf64>
  return %0, %1 : vector<8xf64>, vector<8xf64>
}

// CHECK-LABEL: func.func private @skript.min.8xf64
// CHECK:         call_intrinsic "llvm.x86.avx512.mask.range.pd.512"(%arg0, %arg1, %c4_i32,
// CHECK-LABEL: func.func private @skript.max.8xf32
// CHECK:         arith.andi
// CHECK-LABEL: func.func private @skript.max.16xf32
// CHECK:         %[[Y:.+]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%arg0, %arg1, %c5_i32,
// CHECK:         %[[NAN:.+]] = arith.cmpf uno, %arg0, %arg1
// CHECK:         arith.select %[[NAN]], %{{.+}}, %[[Y]]
// CHECK-LABEL: func.func private @skript.max_of_numbers.16xf32
// CHECK:         %[[Y:.+]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%arg0, %arg1, %c5_i32,
// CHECK-NEXT:    return %[[Y]]
// SELECTIONS-NOT: call_intrinsic
// SELECTIONS-LABEL: func.func private @skript.min.8xf64
// SELECTIONS-COUNT-2: arith.cmpf olt
// SELECTIONS:       arith.ori
// SELECTIONS:       arith.select
// SELECTIONS-LABEL: func.func private @skript.max_of_numbers.16xf32
// SELECTIONS-COUNT-2: arith.cmpf ogt
// SELECTIONS:       arith.andi
// SELECTIONS-NOT:   arith.select %{{.*}}, %cst
// SELECTIONS:       return
