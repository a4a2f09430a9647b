// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-guard-angles))' 2>&1 | FileCheck %s

// CHECK: add pass 'skript-guard-angles' restricted to 'builtin.module'
func.func @f() { return }
