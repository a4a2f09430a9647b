// RUN: not skript-opt %s --skript-add-entry 2>&1 | FileCheck %s

// CHECK: the module has no function `skript.model`
llvm.func @exp() {
  llvm.return
}
