// RUN: not skript-opt %s --split-input-file --skript-parallelize-calls 2>&1 | FileCheck %s

// CHECK: the function 'few' has the attribute 'skript.steps', but its last two arguments are not a range of steps
llvm.func @few(%to: i64) attributes {skript.steps} {
  llvm.return
}

// -----

// CHECK: the function 'narrow' has the attribute 'skript.steps', but its last two arguments are not a range of steps
llvm.func @narrow(%x: !llvm.ptr, %from: i64, %to: i32) attributes {skript.steps} {
  llvm.return
}

// -----

// CHECK: the module has a function named "rows.task" already
llvm.func @rows.task(%x: !llvm.ptr) {
  llvm.return
}
llvm.func @rows(%x: !llvm.ptr, %from: i64, %to: i64) attributes {skript.steps} {
  llvm.return
}
