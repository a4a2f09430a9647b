// RUN: not skript-opt %s --skript-map-rows=gpu=other 2>&1 | FileCheck %s

// CHECK: option gpu: other is not a GPU
func.func @nothing() attributes {skript.entry} {
  return
}
