// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-write-carried))' 2>&1 | FileCheck %s

// Loops are looked at from the module down.
// CHECK: add pass 'skript-write-carried' restricted to 'builtin.module'
func.func @f() { return }
