// RUN: skript-opt %s --verify-diagnostics --skript-split-guards=interior=101

// expected-error @below {{option interior is 101, which is not a percentage}}
module {
}
