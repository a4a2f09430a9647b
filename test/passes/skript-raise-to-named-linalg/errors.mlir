// RUN: not skript-opt %s --skript-raise-to-named-linalg=all=true 2>&1 | FileCheck %s

// What no named operation computes stays as it is; what the pass can be given wrongly is an option.
// CHECK: no such option all
module {
}
