// RUN: skript-opt %s --skript-resolve-locations --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: skript-opt %s --pass-pipeline="builtin.module(skript-resolve-locations,ensure-debug-info-scope-on-llvm-func)" --mlir-print-debuginfo | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=LINES

// Parts without a line are removed, the first part of a fused location remains, and an operation without a line has the location of its function.
// CHECK:       llvm.mlir.global {{.*}} loc("m.sknd":8:5)
// CHECK-LABEL: llvm.func @scale
// CHECK-NEXT:    llvm.mlir.constant{{.*}} loc("graph"("m.sknd":9:3))
// CHECK-NEXT:    llvm.fmul {{.*}} loc(callsite("scale"("m.sknd":3:5) at "graph"("m.sknd":9:3)))
// CHECK-NEXT:    llvm.fadd {{.*}} loc("m.sknd":4:5)
// CHECK-NEXT:    llvm.fsub {{.*}} loc("m.sknd":5:5)
// CHECK-NEXT:    llvm.fneg {{.*}} loc("m.sknd":2:1)
// CHECK-NEXT:    llvm.return {{.*}} loc("m.sknd":2:1)

// LINES-LABEL: define float @scale
// LINES-NEXT:    fmul float %0, 2.000000e+00, !dbg ![[PRODUCT:[0-9]+]]
// LINES-NEXT:    fadd {{.*}} !dbg ![[SUM:[0-9]+]]
// LINES-NEXT:    fsub
// LINES-NEXT:    fneg {{.*}} !dbg ![[NEGATIVE:[0-9]+]]
// LINES-DAG:   ![[PRODUCT]] = !DILocation(line: 3, column: 5, scope: !{{[0-9]+}}, inlinedAt: !{{[0-9]+}})
// LINES-DAG:   ![[SUM]] = !DILocation(line: 4,
// LINES-DAG:   ![[NEGATIVE]] = !DILocation(line: 2,
module {
  llvm.mlir.global private constant @table(1.0 : f32) : f32 loc(callsite("m.sknd":8:5 at "graph"("m.sknd":9:3)))
  llvm.func @scale(%x: f32) -> f32 {
    %two = llvm.mlir.constant(2.0 : f32) : f32 loc(callsite(unknown at "graph"("m.sknd":9:3)))
    %a = llvm.fmul %x, %two : f32 loc(callsite("scale"("m.sknd":3:5) at "graph"("m.sknd":9:3)))
    %b = llvm.fadd %a, %x : f32 loc(fused[unknown, "m.sknd":4:5, "m.sknd":7:5])
    %c = llvm.fsub %b, %x : f32 loc(fused<"a remark">[callsite(unknown at unknown), callsite("m.sknd":5:5 at unknown)])
    %d = llvm.fneg %c : f32 loc(unknown)
    llvm.return %d : f32 loc("unnamed"(unknown))
  } loc("m.sknd":2:1)
} loc("m.sknd":1:1)
