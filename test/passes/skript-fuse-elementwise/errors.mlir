// RUN: skript-opt %s --verify-diagnostics --skript-fuse-elementwise=operations=many

// expected-error @below {{option operations has the value 'many', which is no u32}}
module {
}
