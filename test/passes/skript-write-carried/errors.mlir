// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-write-carried))' 2>&1 | FileCheck %s

// Loops are looked at from the module down.
// CHECK: can't run 'skript-write-carried' pass
func.func @f() { return }
