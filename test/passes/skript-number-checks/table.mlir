// RUN: skript-opt %s --skript-number-checks | FileCheck %s

// Equal checks at one location share a status; the table at the module is in the order of statuses.
// CHECK:      module attributes {skript.checks = [
// CHECK-SAME:   {code = "SK9204", message = "{0} is not 4", trace = ["m.sknd:2:3: f"]},
// CHECK-SAME:   {code = "SK9203", message = "never", trace = []}]}
module {
  // CHECK-LABEL: func.func @checked
  func.func @checked(%ok: i1, %n: i64) attributes {skript.entry} {
    // CHECK-NEXT: skript.check %{{.*}}, "SK9204", "{0} is not 4"(%{{.*}}) status 1
    skript.check %ok, "SK9204", "{0} is not 4"(%n) loc("f"("m.sknd":2:3))
    // CHECK-NEXT: skript.check %{{.*}}, "SK9203", "never" status 2
    skript.check %ok, "SK9203", "never" loc(unknown)
    // CHECK-NEXT: skript.check %{{.*}}, "SK9204", "{0} is not 4"(%{{.*}}) status 1
    skript.check %ok, "SK9204", "{0} is not 4"(%n) loc("f"("m.sknd":2:3))
    return
  }
}
