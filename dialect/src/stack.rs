// SPDX-License-Identifier: Apache-2.0
//! A stack that is large enough for deeply nested IR.
//!
//! MLIR parses, verifies and prints nested regions by recursion: a few thousand levels overflow the usual 8 MiB, and
//! the process crashes without a message. The threads of MLIR's pool have the stack size limit of process start, so
//! raising the limit requires a new process.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Enough for about a hundred thousand levels; only touched pages use memory.
const WANTED: libc::rlim_t = 1 << 30;

/// Restarts the program with the same arguments if its stack limit is low and can be raised; otherwise returns.
pub(crate) fn ensure_large() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    let wanted = WANTED.min(limit.rlim_max);
    // If the stack is unlimited, threads get a small one.
    if !known || limit.rlim_cur >= wanted && limit.rlim_cur != libc::RLIM_INFINITY {
        return;
    }
    limit.rlim_cur = wanted;
    // SAFETY: the structure is valid; a refusal changes nothing.
    if unsafe { libc::setrlimit(libc::RLIMIT_STACK, &raw const limit) } != 0 {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_default();
        // Returns only if it fails; then this process continues.
        let _ = Command::new(program).arg0(name).args(arguments).exec();
    }
}
