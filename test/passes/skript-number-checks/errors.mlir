// RUN: skript-opt %s --skript-number-checks | FileCheck %s

// No module is refused; one without checks gets no table.
// CHECK-NOT: skript.checks
// CHECK-LABEL: func.func @plain
func.func @plain() attributes {skript.entry} {
  return
}
