// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-separate-inits))' 2>&1 | FileCheck %s

// CHECK: Can't add pass 'skript-separate-inits' restricted to 'builtin.module'
func.func @f() {
  return
}
