// SPDX-License-Identifier: Apache-2.0
//! Handles reads of mapped pages that their file no longer has: without a handler, the signal would end the process.
//!
//! The first mapping installs a handler of SIGBUS. If the fault is inside of one of the mappings, the handler replaces the
//! lost pages by zeros and records the loss; the reader continues, and checks [`Watch::lost`] at the end. Every other SIGBUS
//! is passed to the previous handler, or ends the process as without this handler. A program that later installs another
//! handler, and does not pass on other faults, disables this one.
//!
//! The handler takes no lock and allocates nothing: mappings are a list of nodes that are added and reused, never freed.
//! On systems other than Linux, only the version of the file is checked.

use std::io;

/// Watches the pages of a mapping until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    #[cfg(target_os = "linux")]
    node: &'static linux::Node,
}

#[cfg(not(target_os = "linux"))]
impl Watch {
    pub(super) fn over(_: &[u8]) -> io::Result<Watch> {
        Ok(Watch {})
    }

    pub(super) fn lost(&self) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
impl Watch {
    /// Begins to watch a mapping, which starts at a page boundary.
    ///
    /// # Errors
    /// The system's error, if it cannot install a handler.
    pub(super) fn over(mapping: &[u8]) -> io::Result<Watch> {
        linux::install()?;
        Ok(Watch { node: linux::Node::holding(mapping) })
    }

    /// Whether pages were lost and replaced by zeros.
    pub(super) fn lost(&self) -> bool {
        self.node.lost()
    }
}

#[cfg(target_os = "linux")]
impl Drop for Watch {
    fn drop(&mut self) {
        self.node.release();
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use libc::{c_int, c_void, siginfo_t};
    use std::io;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
    use std::sync::{Mutex, OnceLock, PoisonError};

    /// The addresses of a mapping; `end` is 0 while the node is free.
    #[derive(Debug)]
    pub(super) struct Node {
        start: AtomicUsize,
        end: AtomicUsize,
        lost: AtomicBool,
        next: AtomicPtr<Node>,
    }

    static FIRST: AtomicPtr<Node> = AtomicPtr::new(null_mut());
    static FREE: Mutex<Vec<&'static Node>> = Mutex::new(Vec::new());

    impl Node {
        /// A node for a mapping: a free one, or a new one.
        pub(super) fn holding(mapping: &[u8]) -> &'static Node {
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            let node = free.pop().unwrap_or_else(|| {
                let node = Box::leak(Box::new(Node {
                    start: AtomicUsize::new(0),
                    end: AtomicUsize::new(0),
                    lost: AtomicBool::new(false),
                    next: AtomicPtr::new(FIRST.load(Ordering::Relaxed)),
                }));
                // Only holders of the lock of `FREE` add nodes.
                FIRST.store(node, Ordering::Release);
                node
            });
            let start = mapping.as_ptr().addr();
            node.lost.store(false, Ordering::Relaxed);
            node.start.store(start, Ordering::Relaxed);
            node.end.store(start.saturating_add(mapping.len()), Ordering::Release);
            node
        }

        pub(super) fn lost(&self) -> bool {
            self.lost.load(Ordering::Acquire)
        }

        pub(super) fn release(&'static self) {
            self.end.store(0, Ordering::Release);
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(self);
        }

        /// The mapping that contains an address, and its end.
        fn around(address: usize) -> Option<(&'static Node, usize)> {
            let mut next = FIRST.load(Ordering::Acquire);
            // SAFETY: nodes are never freed.
            while let Some(node) = unsafe { next.as_ref() } {
                let end = node.end.load(Ordering::Acquire);
                if address < end && node.start.load(Ordering::Relaxed) <= address {
                    return Some((node, end));
                }
                next = node.next.load(Ordering::Relaxed);
            }
            None
        }
    }

    struct Installed {
        before: libc::sigaction,
        page: usize,
    }

    static INSTALLED: OnceLock<Installed> = OnceLock::new();

    /// Installs the handler once.
    pub(crate) fn install() -> io::Result<()> {
        static FAILED: Mutex<()> = Mutex::new(());
        if INSTALLED.get().is_some() {
            return Ok(());
        }
        let _one_at_a_time = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
        if INSTALLED.get().is_some() {
            return Ok(());
        }
        // SAFETY: `sysconf` does not access memory of the program.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)?;
        // SAFETY: a sigaction of zeros is valid: the default action with an empty mask.
        let (mut before, mut action): (libc::sigaction, libc::sigaction) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_fault;
        action.sa_sigaction = handler as usize;
        // Threads that have a stack for signals use it.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: both point to valid structures; the handler may be called as soon as it is installed, which is why
        // the previous handler is queried first.
        unsafe {
            if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
                return Err(io::Error::last_os_error());
            }
            let _ = INSTALLED.set(Installed { before, page });
            if libc::sigaction(libc::SIGBUS, &raw const action, null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    extern "C" fn on_fault(signal: c_int, information: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system passes a valid siginfo_t, which has an address for the codes of faults.
        let (code, address) = unsafe { ((*information).si_code, (*information).si_addr().addr()) };
        let Some(installed) = INSTALLED.get() else {
            return;
        };
        // Faults of defective memory, and signals that a process sends, are passed on.
        if code == libc::BUS_ADRERR && replace(address, installed.page) {
            return;
        }
        pass_on(&installed.before, signal, code, information, context);
    }

    /// Replaces the page at `address` and all following pages of the mapping by zeros, if the mapping is watched.
    fn replace(address: usize, page: usize) -> bool {
        let Some((node, end)) = Node::around(address) else {
            return false;
        };
        node.lost.store(true, Ordering::Release);
        let first = address - address % page;
        // SAFETY: the pages belong to a watched mapping that nothing writes to; it is unmapped as a whole. `mmap` is a
        // plain system call; `errno` is restored for the interrupted code.
        unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            let mapped = libc::mmap(
                std::ptr::with_exposed_provenance_mut(first),
                end - first,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            );
            *errno = before;
            mapped != libc::MAP_FAILED
        }
    }

    /// Has the effect that the signal would have without this handler.
    fn pass_on(
        before: &libc::sigaction,
        signal: c_int,
        code: c_int,
        information: *mut siginfo_t,
        context: *mut c_void,
    ) {
        let sent = code <= 0;
        match before.sa_sigaction {
            libc::SIG_IGN if sent => {}
            // The system ends a process that ignores a fault.
            libc::SIG_DFL | libc::SIG_IGN => {
                // SAFETY: the default action is valid. A fault is raised again at the same instruction; a sent signal
                // is sent again, and arrives when this handler returns.
                unsafe {
                    libc::signal(signal, libc::SIG_DFL);
                    if sent {
                        libc::raise(signal);
                    }
                }
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: with this flag, the handler is a function of these parameters.
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                    unsafe { std::mem::transmute(handler) };
                handler(signal, information, context);
            }
            handler => {
                // SAFETY: without the flag, the handler is a function of the signal alone.
                let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
                handler(signal);
            }
        }
    }
}
