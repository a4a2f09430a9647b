// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-write-parts))' 2>&1 | FileCheck %s

// CHECK: Can't add pass 'skript-write-parts' restricted to 'builtin.module'
func.func @f() {
  return
}
