// RUN: not skript-opt %s --skript-name-entry 2>&1 | FileCheck %s

// CHECK: the module has 2 public functions and none is marked `skript.entry`
func.func @a() {
  return
}
func.func @b() {
  return
}
