// RUN: not skript-opt %s --skript-set-target=triple=z80-none 2>&1 | FileCheck %s

// CHECK: z80
module {
}
