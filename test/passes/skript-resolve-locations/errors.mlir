// RUN: skript-opt %s --skript-resolve-locations --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// No module is refused: without any line, locations remain.
// CHECK-LABEL: llvm.func @nowhere
// CHECK-NEXT:    llvm.return loc(unknown)
// CHECK-NEXT:  } loc("name")
module {
  llvm.func @nowhere() {
    llvm.return loc(unknown)
  } loc("name")
} loc(unknown)
