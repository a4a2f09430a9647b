// RUN: skript-opt %s --split-input-file --skript-add-line-tables --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: not skript-opt %s --split-input-file --skript-add-line-tables="form=stabs" 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: {{.*}}option form: stabs is not dwarf or directives

// No module is refused: without any line, locations remain.
// CHECK-LABEL: llvm.func @nowhere
// CHECK-NEXT:    llvm.return loc("m.sknd":0:0)
// CHECK-NEXT:  } loc("name")
module {
  llvm.func @nowhere() {
    llvm.return loc("m.sknd":0:0)
  } loc("name")
} loc(unknown)

// -----

// Other metadata of a location is no scope.
// CHECK-LABEL: llvm.func @numbered
// CHECK:       } loc(fused<#llvm.di_subprogram<{{.*}}name = "numbered"{{.*}}>>["m.sknd":3:1])
module {
  llvm.func @numbered() {
    llvm.return loc("m.sknd":4:1)
  } loc(fused<42 : i64>["m.sknd":3:1])
} loc(unknown)

// -----

// A function that has a scope remains.
// CHECK-LABEL: llvm.func @described
// CHECK-NEXT:    llvm.return loc(unknown)
// CHECK-NEXT:  } loc(fused<#llvm.di_subprogram<{{.*}}name = "own"{{.*}}>>["m.sknd":2:1])
#file = #llvm.di_file<"m.sknd" in "">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C, file = #file, isOptimized = true, emissionKind = LineTablesOnly>
#own = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "own", file = #file, line = 2, scopeLine = 2, subprogramFlags = Definition>
module {
  llvm.func @described() {
    llvm.return loc(unknown)
  } loc(fused<#own>["m.sknd":2:1])
} loc("m.sknd":1:1)
