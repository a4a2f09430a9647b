// SPDX-License-Identifier: Apache-2.0
//! A SIGBUS outside of mapped files goes to the handler that the program installed before the first mapping.
#![cfg(target_os = "linux")]

use skript_tensor::map::MappedFile;
use std::sync::atomic::{AtomicI32, Ordering};

static RECEIVED: AtomicI32 = AtomicI32::new(0);

extern "C" fn program_handler(signal: libc::c_int) {
    RECEIVED.store(signal, Ordering::SeqCst);
}

#[test]
fn a_handler_of_the_program_keeps_its_signals() {
    let handler: extern "C" fn(libc::c_int) = program_handler;
    // SAFETY: the handler stores to an atomic.
    unsafe { libc::signal(libc::SIGBUS, handler as usize) };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let file = MappedFile::open(&path).unwrap();
    let truncated = std::fs::File::options().write(true).open(&path).unwrap();
    truncated.set_len(1).unwrap();
    // A watched mapping: the program's handler is not called.
    assert_eq!(file.bytes()[(1 << 20) - 1], 0);
    assert!(file.intact().is_err());
    assert_eq!(RECEIVED.load(Ordering::SeqCst), 0);
    // SAFETY: sends a signal that is handled.
    unsafe { libc::raise(libc::SIGBUS) };
    assert_eq!(RECEIVED.load(Ordering::SeqCst), libc::SIGBUS);
}
