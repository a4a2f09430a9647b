// SPDX-License-Identifier: Apache-2.0
//! Any body of a compiled model, with a valid checksum, is read or refused, and its code linked or refused. The code is not called:
//! `cargo +nightly fuzz run artifact`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skript_runtime::artifact::VERSION;
use skript_runtime::{Artifact, Program};

fuzz_target!(|body: &[u8]| {
    let mut bytes = b"SKRIPTM\n".to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    let sum = blake3::hash(&bytes);
    bytes.extend(sum.as_bytes());
    if let Ok(artifact) = Artifact::from_bytes(&bytes) {
        assert_eq!(artifact.to_bytes(), bytes);
        let _ = Program::load(artifact);
    }
});
