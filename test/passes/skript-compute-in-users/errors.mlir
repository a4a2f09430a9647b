// RUN: skript-opt %s --verify-diagnostics --skript-compute-in-users=inputs=few

// expected-error @below {{option inputs has the value 'few', which is no u32}}
module {
}
