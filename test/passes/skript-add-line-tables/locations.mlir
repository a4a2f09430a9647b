// RUN: skript-opt %s --skript-add-line-tables --mlir-print-debuginfo | FileCheck %s --check-prefix=UNIT
// RUN: skript-opt %s --skript-add-line-tables --mlir-print-debuginfo | mlir-translate --mlir-to-llvmir | FileCheck %s
// RUN: skript-opt %s --skript-add-line-tables="form=directives" --mlir-print-debuginfo | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=DIRECTIVES

// UNIT: #llvm.di_compile_unit<{{.*}}producer = "SkriptND", isOptimized = true, emissionKind = LineTablesOnly
// DIRECTIVES: !DICompileUnit({{.*}}emissionKind: DebugDirectivesOnly

// CHECK-LABEL: define float @scale
// CHECK-SAME:    !dbg ![[SCALE:[0-9]+]]
// CHECK-NEXT:    fmul float %0, 2.000000e+00, !dbg ![[PRODUCT:[0-9]+]]
// CHECK-NEXT:    fadd {{.*}} !dbg ![[SUM:[0-9]+]]
// CHECK-NEXT:    fsub {{.*}} !dbg ![[DIFFERENCE:[0-9]+]]
// CHECK-NEXT:    fneg {{.*}} !dbg ![[UNKNOWN:[0-9]+]]
// CHECK-NEXT:    fdiv {{.*}} !dbg ![[OTHER_FILE:[0-9]+]]
// CHECK-NEXT:    call float @helper{{.*}} !dbg ![[UNKNOWN]]
// CHECK-NEXT:    ret {{.*}} !dbg ![[UNKNOWN]]

// LLVM inlines a helper, whose instructions then have the line of the call.
// CHECK-LABEL: define internal float @helper
// CHECK-NOT:     !dbg

// The called function has the inner lines of the call.
// CHECK-LABEL: define float @caller
// CHECK-NEXT:    call float @scale{{.*}} !dbg ![[CALL:[0-9]+]]
// CHECK-NEXT:    call float @sin{{.*}} !dbg ![[LIBRARY:[0-9]+]]
// CHECK-NEXT:    fneg {{.*}} !dbg ![[FRAME:[0-9]+]]
// CHECK-NEXT:    fneg {{.*}} !dbg ![[DEEP_FRAME:[0-9]+]]
// CHECK-NEXT:    fneg {{.*}} !dbg ![[TEST:[0-9]+]]

// LLVM drops the lines of what it inlines into a function without a scope.
// CHECK-LABEL: define float @entry
// CHECK-NEXT:    call float @scale{{.*}} !dbg ![[ENTRY:[0-9]+]]

// CHECK-DAG: ![[ENTRY]] = !DILocation(line: 1, column: 1, scope: ![[OF_ENTRY:[0-9]+]])
// CHECK-DAG: ![[OF_ENTRY]] = distinct !DISubprogram(name: "entry"
// CHECK-DAG: ![[FILE:[0-9]+]] = !DIFile(filename: "m.sknd", directory: "model")
// CHECK-DAG: ![[SCALE]] = distinct !DISubprogram(name: "scale", linkageName: "scale", scope: ![[FILE]], file: ![[FILE]], line: 2,
// Names are those of the invoked operators: three levels, of which the innermost is in another operator of the same name and file.
// CHECK-DAG: ![[PRODUCT]] = !DILocation(line: 3, column: 5, scope: ![[INNER:[0-9]+]], inlinedAt: ![[MIDDLE_AT:[0-9]+]])
// CHECK-DAG: ![[INNER]] = distinct !DISubprogram(name: "n.inner"
// CHECK-DAG: ![[MIDDLE_AT]] = {{.*}}!DILocation(line: 6, column: 7, scope: ![[MIDDLE:[0-9]+]], inlinedAt: ![[GRAPH:[0-9]+]])
// CHECK-DAG: ![[MIDDLE]] = distinct !DISubprogram(name: "n.middle"
// CHECK-DAG: ![[GRAPH]] = {{.*}}!DILocation(line: 9, column: 3, scope: ![[SCALE]])
// CHECK-DAG: ![[SUM]] = !DILocation(line: 4, column: 5, scope: ![[SCALE]])
// CHECK-DAG: ![[DIFFERENCE]] = !DILocation(line: 5, column: 5, scope: ![[SCALE]])
// CHECK-DAG: ![[UNKNOWN]] = !DILocation(line: 2, column: 1, scope: ![[SCALE]])
// CHECK-DAG: ![[OTHER_FILE]] = !DILocation(line: 8, column: 1, scope: ![[BLOCK:[0-9]+]])
// CHECK-DAG: ![[BLOCK]] = {{.*}}!DILexicalBlockFile(scope: ![[SCALE]], file: ![[OTHER:[0-9]+]], discriminator: 0)
// CHECK-DAG: ![[OTHER]] = !DIFile(filename: "other.sknd", directory: "")
// CHECK-DAG: ![[CALL]] = !DILocation(line: 9, column: 3, scope: ![[CALLER:[0-9]+]])
// CHECK-DAG: ![[CALLER]] = distinct !DISubprogram(name: "caller", {{.*}} line: 9,
// CHECK-DAG: ![[LIBRARY]] = !DILocation(line: 3, column: 5, scope: ![[MIDDLE]], inlinedAt: ![[AT:[0-9]+]])
// Lines of a program that JAX wrote have the names of the functions around them.
// CHECK-DAG: ![[FRAME]] = !DILocation(line: 3, column: 11, scope: ![[PYTHON:[0-9]+]], inlinedAt: ![[PYTHON_AT:[0-9]+]])
// CHECK-DAG: ![[PYTHON]] = distinct !DISubprogram(name: "inner"
// Of an inlined function, too: each frame has its own function.
// CHECK-DAG: ![[DEEP_FRAME]] = !DILocation(line: 3, column: 11, scope: ![[PYTHON]], inlinedAt: ![[OUTER_AT:[0-9]+]])
// CHECK-DAG: ![[OUTER_AT]] = {{.*}}!DILocation(line: 5, column: 11, scope: ![[OUTER:[0-9]+]], inlinedAt: ![[MAIN_AT:[0-9]+]])
// CHECK-DAG: ![[OUTER]] = distinct !DISubprogram(name: "outer"
// CHECK-DAG: ![[MAIN_AT]] = {{.*}}!DILocation(line: 9, column: 1, scope: ![[MAIN:[0-9]+]],
// CHECK-DAG: ![[MAIN]] = distinct !DISubprogram(name: "main"
// The name of a test is not that of an operation.
// CHECK-DAG: ![[TEST]] = !DILocation(line: 3, column: 5, scope: ![[INNER]], inlinedAt: ![[TEST_AT:[0-9]+]])
// CHECK-DAG: ![[TEST_AT]] = {{.*}}!DILocation(line: 6, column: 7, scope: ![[MIDDLE]],
#inner = loc("n.inner"("model/m.sknd":3:5 to :20))
#middle = loc("n.inner"("model/m.sknd":6:7))
#graph = loc("n.middle"("model/m.sknd":9:3))
#call = loc(callsite("n.middle"("model/m.sknd":3:5) at #graph))
#main = loc(callsite("main"("m.py":9:1) at "<module>"("m.py":20:1)))
#frame = loc(callsite("inner"("m.py":3:11) at "outer"("m.py":5:11)))
module {
  llvm.mlir.global private constant @table(1.0 : f32) : f32 loc(callsite("model/m.sknd":8:5 at #graph))
  llvm.func @sin(f32) -> f32
  llvm.func @scale(%x: f32) -> f32 {
    %two = llvm.mlir.constant(2.0 : f32) : f32 loc(callsite(unknown at #graph))
    %a = llvm.fmul %x, %two : f32 loc(callsite(#inner at callsite(#middle at #graph)))
    %b = llvm.fadd %a, %x : f32 loc(fused[unknown, "model/m.sknd":0:0, "graph"(fused["model/m.sknd":4:5, "model/m.sknd":7:5])])
    %c = llvm.fsub %b, %x : f32 loc(fused<"a remark">[callsite(unknown at unknown), callsite("model/m.sknd":5:5 at unknown)])
    %d = llvm.fneg %c : f32 loc(unknown)
    %e = llvm.fdiv %d, %x : f32 loc("other.sknd":8:1)
    %f = llvm.call @helper(%e) : (f32) -> f32 loc("unnamed"(unknown))
    llvm.return %f : f32 loc("unnamed"(unknown))
  } loc("model/m.sknd":2:1)
  llvm.func internal @helper(%x: f32) -> f32 attributes {passthrough = ["alwaysinline"]} {
    %y = llvm.fneg %x : f32 loc("model/m.sknd":11:1)
    llvm.return %y : f32 loc("model/m.sknd":11:1)
  } loc("model/m.sknd":11:1)
  // A function without a line has that of its first operation.
  llvm.func @caller(%x: f32) -> f32 {
    %y = llvm.call @scale(%x) : (f32) -> f32 loc(#call)
    %z = llvm.call @sin(%y) : (f32) -> f32 loc(#call)
    %w = llvm.fneg %z : f32 loc("jit(f)/neg"(#frame))
    %v = llvm.fneg %w : f32 loc(callsite("jit(g)/neg"(#frame) at "jit(f)/g"(#main)))
    %u = llvm.fneg %v : f32 loc("are finite"(callsite(#inner at callsite(#middle at #graph))))
    llvm.return %u : f32 loc(#graph)
  } loc(unknown)
  llvm.func @entry(%x: f32) -> f32 {
    %y = llvm.call @scale(%x) : (f32) -> f32 loc(unknown)
    llvm.return %y : f32 loc(unknown)
  } loc(unknown)
} loc("model/m.sknd":1:1)
