// RUN: skript-opt %s --verify-diagnostics --skript-unroll-elementwise
// RUN: not skript-opt %s --pass-pipeline="builtin.module(skript-unroll-elementwise{shape=0})" 2>&1 | FileCheck %s

// CHECK: option shape: `0` is not a list of positive extents
func.func @scalable(%x: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error @below {{is elementwise but its results are not all vectors of fixed length}}
  %0 = arith.addf %x, %x : vector<[4]xf32>
  return %0 : vector<[4]xf32>
}
