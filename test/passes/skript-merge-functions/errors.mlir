// RUN: not skript-opt %s --skript-merge-functions=least=few 2>&1 | FileCheck %s

// CHECK: option least
llvm.func @f() {
  llvm.return
}
