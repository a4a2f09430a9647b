// RUN: skript-opt %s --skript-access-bool-bytes | FileCheck %s

// No module is refused: accesses of other types remain, and a vector of bools is not an array of bytes.
// CHECK-LABEL: llvm.func @others
// CHECK-NEXT:    %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK-NEXT:    llvm.store %[[X]], %{{.*}} : i8, !llvm.ptr
// CHECK-NEXT:    %[[V:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi1>
// CHECK-NEXT:    llvm.store %[[V]], %{{.*}} : vector<8xi1>, !llvm.ptr
// CHECK-NEXT:    llvm.return
llvm.func @others(%x: !llvm.ptr, %y: !llvm.ptr) {
  %a = llvm.load %x : !llvm.ptr -> i8
  llvm.store %a, %y : i8, !llvm.ptr
  %v = llvm.load %x : !llvm.ptr -> vector<8xi1>
  llvm.store %v, %y : vector<8xi1>, !llvm.ptr
  llvm.return
}
