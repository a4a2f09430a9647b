// RUN: not skript-opt %s --skript-fold-extents=all=true 2>&1 | FileCheck %s

// The pass takes every module; what it can be given wrongly is an option.
// CHECK: no such option all
module {
}
