// RUN: not skript-opt %s --split-input-file --skript-lower-checks 2>&1 | FileCheck %s

// CHECK: a check is outside of the entry, or inside of structured control flow
func.func @nested(%ok: i1) attributes {skript.entry} {
  scf.if %ok {
    skript.check %ok, "SK9203", "never" status 1
  }
  return
}

// -----

// CHECK: has no number
func.func @unnumbered(%ok: i1) attributes {skript.entry} {
  skript.check %ok, "SK9203", "never"
  return
}
