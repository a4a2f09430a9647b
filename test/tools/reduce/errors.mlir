// RUN: not skript-reduce %s --leave-out="test=%S/interesting.sh" 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not skript-reduce %s --leave-out="test=%S/missing.sh" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not skript-reduce %s --leave-out 2>&1 | FileCheck %s --check-prefix=NONE

// WHOLE: error: the test `{{.*}}interesting.sh` does not find in the whole module what it looks for; it says so by exit status 1
// MISSING: error: `test` is a program that looks into the file it is given, `{{.*}}missing.sh` cannot be run; write `--leave-out=test=./PROGRAM`
// NONE: error: `test` is a program that looks into the file it is given, `` cannot be run
func.func @nothing() {
  return
}
