// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-write-carried))' 2>&1 | FileCheck %s
// RUN: not skript-opt %s --pass-pipeline='builtin.module(skript-write-carried{apart=perhaps})' 2>&1 | FileCheck %s --check-prefix=VALUE

// Loops are looked at from the module down.
// CHECK: add pass 'skript-write-carried' restricted to 'builtin.module'
// VALUE: option apart has the value 'perhaps'
func.func @f() { return }
