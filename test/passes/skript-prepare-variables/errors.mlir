// RUN: not skript-opt %s --skript-prepare-variables 2>&1 | FileCheck %s

// CHECK: the entry is called by a 'func.call' of the module, and cannot get other arguments
func.func @entry(%w: memref<4xf32> {skript.role = "variable"}) attributes {skript.entry} {
  return
}

func.func private @caller(%w: memref<4xf32>) {
  func.call @entry(%w) : (memref<4xf32>) -> ()
  return
}
