// RUN: skript-opt %s --skript-access-bool-bytes | FileCheck %s

// CHECK-LABEL: llvm.func @both
// CHECK:         %[[X:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK-NEXT:    %[[A:.*]] = llvm.trunc %[[X]] : i8 to i1
// CHECK-NEXT:    %[[Y:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK-NEXT:    %[[B:.*]] = llvm.trunc %[[Y]] : i8 to i1
// CHECK-NEXT:    %[[C:.*]] = llvm.and %[[A]], %[[B]] : i1
// CHECK-NEXT:    %[[BYTE:.*]] = llvm.zext %[[C]] : i1 to i8
// CHECK-NEXT:    llvm.store %[[BYTE]], %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr
// CHECK-NEXT:    llvm.return %[[A]] : i1
llvm.func @both(%x: !llvm.ptr, %y: !llvm.ptr) -> i1 {
  %a = llvm.load %x {alignment = 1 : i64} : !llvm.ptr -> i1
  %b = llvm.load %y : !llvm.ptr -> i1
  %c = llvm.and %a, %b : i1
  llvm.store %c, %y {alignment = 1 : i64} : i1, !llvm.ptr
  llvm.return %a : i1
}
