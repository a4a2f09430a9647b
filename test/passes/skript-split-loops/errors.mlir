// RUN: not skript-opt %s --skript-split-loops=iterations=0 2>&1 | FileCheck %s

// CHECK: a thread executes at least 1 iteration
func.func @main() attributes {skript.entry} {
  return
}
