// RUN: not skript-opt %s --skript-fold-extents=all=true 2>&1 | FileCheck %s

// The pass accepts every module; only options can be invalid.
// CHECK: no such option all
module {
}
