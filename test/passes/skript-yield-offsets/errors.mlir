// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-yield-offsets))' 2>&1 | FileCheck %s

// CHECK: Can't add pass 'skript-yield-offsets' restricted to 'builtin.module'
func.func @f() {
  return
}
