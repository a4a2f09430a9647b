// RUN: not skript-opt %s --skript-map-reductions=gpu=sm_1 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not skript-opt %s "--skript-map-reductions=precision=f8" 2>&1 | FileCheck %s --check-prefix=PRECISION
// RUN: not skript-opt %s --skript-map-reductions 2>&1 | FileCheck %s

// GPU: option gpu: sm_1 is not a GPU
// PRECISION: option precision: f8 is not a precision
// CHECK: the module has 2 public functions
func.func @one() {
  return
}
func.func @two() {
  return
}
