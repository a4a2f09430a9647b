// RUN: not skript-opt %s --convert-skript-check-to-cf=drop=perhaps 2>&1 | FileCheck %s

// Every check has an assertion; only the option can be wrong.
// CHECK: option drop
func.func @checked(%ok: i1) {
  skript.check %ok, "SK9203", "never"
  return
}
