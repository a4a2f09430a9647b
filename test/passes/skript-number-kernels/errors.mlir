// RUN: not skript-opt %s --skript-number-kernels 2>&1 | FileCheck %s

// CHECK: the module has 2 public functions and none is marked `skript.entry`
func.func @f() {
  return
}
func.func @g() {
  return
}
