// SPDX-License-Identifier: Apache-2.0
//! Work that recurses deeply, on a thread with a large stack.

use std::io::Result;
use std::thread;

/// Runs `work` on a new thread with a stack of `bytes`; the inner error is the cause of its panic. WebAssembly has no threads: there,
/// `work` runs on the stack of the caller, whose overflow ends the module.
///
/// # Errors
/// The thread cannot be started.
pub fn on_stack<T: Send>(
    name: &str,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<thread::Result<T>> {
    if cfg!(target_family = "wasm") {
        return Ok(Ok(work()));
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(name.to_owned()).stack_size(bytes);
        Ok(thread.spawn_scoped(scope, work)?.join())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_has_the_size_and_a_panic_is_returned() {
        fn depth(left: usize) -> usize {
            let block = std::hint::black_box([1_u8; 4096]);
            if left == 0 { 0 } else { depth(left - 1) + usize::from(block[left % 4096]) }
        }
        assert_eq!(on_stack("deep", 64 << 20, || depth(8000)).unwrap().unwrap(), 8000);
        let panic = on_stack("panic", 1 << 20, || -> () { panic!("stopped") }).unwrap().unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"stopped"));
        assert!(on_stack("large", 1 << 60, || ()).is_err());
    }
}
