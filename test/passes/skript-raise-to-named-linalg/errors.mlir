// RUN: not skript-opt %s --skript-raise-to-named-linalg=all=true 2>&1 | FileCheck %s

// Operations without a named form are kept; only options can be invalid.
// CHECK: no such option all
module {
}
