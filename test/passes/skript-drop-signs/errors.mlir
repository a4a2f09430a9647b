// RUN: not skript-opt %s --pass-pipeline='builtin.module(func.func(skript-drop-signs))' 2>&1 | FileCheck %s

// Functions change their types, so the pass looks at them from the module.
// CHECK: add pass 'skript-drop-signs' restricted to 'builtin.module'
func.func @f() { return }
