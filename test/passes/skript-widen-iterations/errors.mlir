// RUN: not skript-opt %s --skript-widen-iterations=gpu=other 2>&1 | FileCheck %s
// RUN: not skript-opt %s --skript-widen-iterations=least=few 2>&1 | FileCheck %s --check-prefix=LEAST

// CHECK: option gpu: other is not a GPU
// LEAST: least
func.func @nothing() attributes {skript.entry} {
  return
}
