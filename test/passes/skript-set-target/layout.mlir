// RUN: skript-opt %s --skript-set-target=triple=aarch64-unknown-linux-gnu | FileCheck %s

// CHECK: module attributes {llvm.data_layout = "e-m:e-{{.*}}", llvm.target_triple = "aarch64-unknown-linux-gnu"}
module {
}
