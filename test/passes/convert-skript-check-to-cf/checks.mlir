// RUN: skript-opt %s --convert-skript-check-to-cf | FileCheck %s
// RUN: skript-opt %s --convert-skript-check-to-cf=drop=true | FileCheck %s --check-prefix=DROP --implicit-check-not=skript.check --implicit-check-not=cf.assert

// CHECK-LABEL: func.func @checked(
// CHECK-SAME:    %[[OK:.+]]: i1, %[[N:.+]]: i64
// CHECK-NEXT:    cf.assert %[[OK]], "SK9204: {0} is not even"
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      cf.assert %[[OK]], "SK9203: never"
// CHECK-NOT:     skript.check
// DROP-LABEL: func.func @checked(
// DROP-NEXT:    scf.if
// DROP-NEXT:    }
func.func @checked(%ok: i1, %n: i64) {
  skript.check %ok, "SK9204", "{0} is not even"(%n)
  scf.if %ok {
    skript.check %ok, "SK9203", "never" status 1
  }
  return
}
