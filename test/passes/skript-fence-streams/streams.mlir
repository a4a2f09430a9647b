// RUN: skript-opt %s --skript-fence-streams | FileCheck %s
// RUN: skript-opt %s --skript-fence-streams --skript-fence-streams | FileCheck %s

// A thread waits at the end of its steps.
// CHECK-LABEL: llvm.func @rows
// CHECK-NOT:     sfence
// CHECK:         llvm.store %{{.+}}, %{{.+}} {alignment = 64 : i64, nontemporal}
// CHECK-NEXT:    llvm.call_intrinsic "llvm.x86.sse.sfence"() : () -> ()
// CHECK-NEXT:    llvm.return
llvm.func @rows(%x: !llvm.ptr, %v: vector<16xf32>, %from: i64, %to: i64) attributes {skript.steps} {
  llvm.store %v, %x {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
  llvm.return
}

// It waits before other threads compute steps, also those of a function that another one calls.
// CHECK-LABEL: llvm.func @before
// CHECK:         llvm.store
// CHECK-NEXT:    llvm.call @plain()
// CHECK-NEXT:    llvm.call_intrinsic "llvm.x86.sse.sfence"
// CHECK-NEXT:    llvm.call @part(
// CHECK-NEXT:    llvm.call_intrinsic "llvm.x86.sse.sfence"
// CHECK-NEXT:    llvm.return
llvm.func @before(%x: !llvm.ptr, %v: vector<16xf32>) {
  llvm.store %v, %x {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
  llvm.call @plain() : () -> ()
  llvm.call @part(%x, %v) : (!llvm.ptr, vector<16xf32>) -> ()
  llvm.return
}

// CHECK-LABEL: llvm.func @part
// CHECK-NOT:     sfence
// CHECK:         llvm.return
llvm.func @part(%x: !llvm.ptr, %v: vector<16xf32>) {
  %from = llvm.mlir.constant(0 : i64) : i64
  %to = llvm.mlir.constant(43 : i64) : i64
  llvm.call @rows(%x, %v, %from, %to) : (!llvm.ptr, vector<16xf32>, i64, i64) -> ()
  llvm.return
}

// CHECK-LABEL: llvm.func @plain
// CHECK-NOT:     sfence
// CHECK:         llvm.return
llvm.func @plain() {
  llvm.return
}
