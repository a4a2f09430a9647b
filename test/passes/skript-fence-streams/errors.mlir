// RUN: skript-opt %s --skript-fence-streams | FileCheck %s

// Ordinary stores need no fence, and a declaration has none.
// CHECK-NOT: sfence
llvm.func @other(!llvm.ptr)
llvm.func @store(%x: !llvm.ptr, %v: vector<16xf32>) {
  llvm.store %v, %x {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr
  llvm.call @other(%x) : (!llvm.ptr) -> ()
  llvm.return
}
