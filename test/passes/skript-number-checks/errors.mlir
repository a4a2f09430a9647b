// RUN: skript-opt %s --skript-number-checks | FileCheck %s

// No module is refused; a module without checks has no table.
// CHECK-NOT: skript.checks
// CHECK-LABEL: func.func @plain
func.func @plain() attributes {skript.entry} {
  return
}
