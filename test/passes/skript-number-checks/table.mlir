// RUN: skript-opt %s --skript-number-checks | FileCheck %s

// Equal checks at one location share a status; the table at the module is in the order of statuses.
// CHECK:      module attributes {skript.checks = [
// CHECK-SAME:   {code = "SK9204", message = "{0} is not 4", trace = ["m.sknd:2:3: f"]},
// CHECK-SAME:   {code = "SK9203", message = "never", trace = []}]}
module {
  // CHECK-LABEL: func.func @checked
  func.func @checked(%ok: i1, %n: i64) attributes {skript.entry} {
    // CHECK-NEXT: call @skript.check.1({{.*}}skript.status = 1 : i64
    func.call @skript.check.1(%ok, %n) {skript.code = "SK9204", skript.message = "{0} is not 4"} : (i1, i64) -> () loc("f"("m.sknd":2:3))
    // CHECK-NEXT: call @skript.check.0({{.*}}skript.status = 2 : i64
    func.call @skript.check.0(%ok) {skript.code = "SK9203", skript.message = "never"} : (i1) -> () loc(unknown)
    // CHECK-NEXT: call @skript.check.1({{.*}}skript.status = 1 : i64
    func.call @skript.check.1(%ok, %n) {skript.code = "SK9204", skript.message = "{0} is not 4"} : (i1, i64) -> () loc("f"("m.sknd":2:3))
    return
  }
  func.func private @skript.check.0(i1)
  func.func private @skript.check.1(i1, i64)
}
