// RUN: skript-opt %s --skript-name-entry | FileCheck %s

// CHECK-LABEL: func.func @other
func.func @other() {
  return
}
// CHECK-LABEL: func.func @skript.model
// CHECK-SAME:    llvm.linkage = #llvm.linkage<internal>
func.func @exp() attributes {skript.entry} {
  return
}
