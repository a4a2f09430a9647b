// RUN: skript-opt %s --verify-diagnostics --skript-fuse-rows=cache-bytes=large

// expected-error @below {{option cache-bytes has the value 'large', which is no i64}}
module {
}
