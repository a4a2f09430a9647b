// RUN: skript-opt %s --split-input-file --skript-add-entry | FileCheck %s

// The C function loads each pointer from its slot of the table; the arena comes last.
// CHECK-LABEL: llvm.func @skript_entry
// CHECK-SAME:    %[[TABLE:[^:]+]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[ARENA:[^:]+]]: !llvm.ptr, %{{.+}}: !llvm.ptr) -> i32
// CHECK:         llvm.getelementptr %[[TABLE]][1]
// CHECK:         %[[X:.+]] = llvm.load
// CHECK:         llvm.getelementptr %[[TABLE]][0]
// CHECK:         %[[Y:.+]] = llvm.load
// CHECK:         llvm.call @skript.model(%[[X]], %[[Y]], %[[ARENA]])
// CHECK:         llvm.mlir.constant(0 : i32)
llvm.func internal @skript.model(%x: !llvm.ptr {skript.slot = 1 : i64}, %y: !llvm.ptr {skript.slot = 0 : i64}, %arena: !llvm.ptr) {
  llvm.return
}

// -----

// A model with run-time checks gets the context as well, and returns their status.
// CHECK-LABEL: llvm.func @skript_entry
// CHECK-SAME:    %[[ARENA:[^:]+]]: !llvm.ptr, %[[CONTEXT:[^:]+]]: !llvm.ptr) -> i32
// CHECK:         %[[STATUS:.+]] = llvm.call @skript.model(%[[ARENA]], %[[CONTEXT]])
// CHECK:         llvm.return %[[STATUS]] : i32
module attributes {skript.checks = [{code = "SK9203", message = "never", trace = []}]} {
  llvm.func internal @skript.model(%arena: !llvm.ptr, %context: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.return %zero : i32
  }
}
