// RUN: skript-opt %s --skript-point-arguments | FileCheck %s
// RUN: skript-opt %s --skript-point-arguments=most=4 | FileCheck %s --check-prefix=MANY
// RUN: skript-opt %s --skript-point-arguments --convert-scf-to-cf --finalize-memref-to-llvm --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @entry
// CHECK-SAME:    (%[[X:[^:]+]]: !llvm.ptr {skript.name = "x"}, %[[N:[^:]+]]: index, %[[W:[^:]+]]: !llvm.ptr, %[[Y:[^:]+]]: !llvm.ptr {llvm.noalias}, %{{[^:]+}}: !llvm.ptr)
// CHECK:         llvm.insertvalue %[[X]], %{{.+}}[0]
// CHECK:         %[[FULL:.+]] = llvm.insertvalue %{{.+}}, %{{.+}}[4, 0]
// CHECK:         %[[ARRAY:.+]] = builtin.unrealized_conversion_cast %[[FULL]] : {{.+}} to memref<96xi8>
// CHECK-NEXT:    memref.load %[[ARRAY]][%[[N]]] : memref<96xi8>
// Values that only a branch needs are created before it.
// CHECK:         llvm.insertvalue %[[W]], %{{.+}}[0]
// CHECK:         scf.if
// CHECK-NOT:     llvm.

// LLVM-LABEL: llvm.func @entry
// LLVM-SAME:    (%[[X:[^:]+]]: !llvm.ptr {skript.name = "x"}, %[[N:[^:]+]]: i64,
// LLVM-NOT:     unrealized_conversion_cast
// LLVM:         llvm.getelementptr {{.*}}[%[[N]]]

// Of many arguments those that are only read come from a table; what is written stays, and says its slot.
// MANY-LABEL: func.func @entry
// MANY-SAME:    (%[[N:[^:]+]]: index {skript.slot = 1 : i64}, %[[Y:[^:]+]]: !llvm.ptr {llvm.noalias, skript.slot = 3 : i64},
// MANY-SAME:     %[[TABLE:[^:]+]]: !llvm.ptr {llvm.noalias, llvm.readonly, skript.table})
// MANY:         %[[SLOT:.+]] = llvm.getelementptr %[[TABLE]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// MANY:         %[[POINTER:.+]] = llvm.load volatile %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// MANY:         llvm.insertvalue %[[POINTER]], %{{.+}}[0]
// MANY:         %[[ARRAY:.+]] = builtin.unrealized_conversion_cast
// MANY-NEXT:    memref.load %[[ARRAY]][%[[N]]]
// MANY:         llvm.getelementptr %[[TABLE]][2]
// MANY:         scf.if
// MANY-NOT:     llvm.getelementptr
func.func @entry(%x: memref<96xi8> {skript.name = "x"}, %n: index, %w: memref<32xi8>, %y: memref<64xi8> {llvm.noalias}, %unused: memref<2xi64>)
    attributes {skript.entry} {
  %true = arith.constant true
  %a = memref.load %x[%n] : memref<96xi8>
  memref.store %a, %y[%n] : memref<64xi8>
  scf.if %true {
    %b = memref.load %w[%n] : memref<32xi8>
    memref.store %b, %y[%n] : memref<64xi8>
  }
  return
}
