// RUN: not skript-opt %s --split-input-file --skript-lower-checks 2>&1 | FileCheck %s

// CHECK: a check is outside of the entry, or inside of structured control flow
func.func @nested(%ok: i1) attributes {skript.entry} {
  scf.if %ok {
    func.call @skript.check.0(%ok) {skript.status = 1 : i64} : (i1) -> ()
  }
  return
}
func.func private @skript.check.0(i1)

// -----

// CHECK: has no number
func.func @unnumbered(%ok: i1) attributes {skript.entry} {
  func.call @skript.check.0(%ok) : (i1) -> ()
  return
}
func.func private @skript.check.0(i1)
