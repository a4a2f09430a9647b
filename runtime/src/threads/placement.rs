// SPDX-License-Identifier: Apache-2.0
//! Keeps the threads of a loop on different CPUs.
//!
//! Schedulers wake a thread near the waking thread. On the same CPU, a worker is useless: the thread that started the loop
//! computes all steps before the worker runs. The worker is runnable only briefly, so the scheduler detects no imbalance, and
//! a process may remain in this state for all of its calls. A worker that shares a CPU with a preceding thread therefore
//! moves to another CPU. It is not bound to that CPU: the scheduler may move it again.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The CPU on which each thread of the pool last ran; the first entry belongs to the thread that starts loops.
pub(super) struct Places<const THREADS: usize>([Place; THREADS]);

/// A CPU number, or [`UNKNOWN`]. Aligned to prevent false sharing: each thread writes one.
#[repr(align(128))]
struct Place(AtomicU32);

const UNKNOWN: u32 = u32::MAX;

/// Minimum time between two moves of a thread: moving does not help when the CPUs are oversubscribed.
const PAUSE: Duration = Duration::from_millis(2);

thread_local! {
    /// When this thread was last moved.
    static MOVED: Cell<Option<Instant>> = const { Cell::new(None) };
}

impl<const THREADS: usize> Places<THREADS> {
    pub(super) const fn new() -> Self {
        Self([const { Place(AtomicU32::new(UNKNOWN)) }; THREADS])
    }

    /// Records the CPU of the calling thread.
    pub(super) fn record(&self, number: usize) {
        if let Some(place) = self.0.get(number) {
            let cpu = system::cpu().unwrap_or(UNKNOWN);
            if place.0.load(Ordering::Relaxed) != cpu {
                place.0.store(cpu, Ordering::Relaxed);
            }
        }
    }

    /// If the calling thread, number `number`, shares a CPU with a preceding thread, moves it to a CPU without preceding threads;
    /// then records its CPU.
    pub(super) fn separate(&self, number: usize) {
        let cpu = system::cpu();
        let before = || {
            let places = self.0.iter().take(number);
            places.map(|place| place.0.load(Ordering::Relaxed))
        };
        let shares = cpu.is_some_and(|cpu| before().any(|other| other == cpu));
        if shares && is_due(MOVED.get()) {
            MOVED.set(Some(Instant::now()));
            let taken: Vec<u32> = before().filter(|cpu| *cpu != UNKNOWN).collect();
            system::leave(&taken);
        }
        self.record(number);
    }
}

/// Whether a thread that was last moved at `moved` may be moved again.
fn is_due(moved: Option<Instant>) -> bool {
    moved.is_none_or(|moved| moved.elapsed() >= PAUSE)
}

#[cfg(target_os = "linux")]
mod system {
    use std::mem::{size_of, zeroed};

    /// The CPU of the calling thread.
    pub(super) fn cpu() -> Option<u32> {
        // SAFETY: the function has no arguments.
        u32::try_from(unsafe { libc::sched_getcpu() }).ok()
    }

    /// Moves the calling thread to an allowed CPU that is not in `taken`. Afterwards, the set of allowed CPUs is the same as before.
    pub(super) fn leave(taken: &[u32]) {
        let Some(allowed) = allowed() else {
            return;
        };
        let mut others = allowed;
        let numbers = 0..8 * size_of::<libc::cpu_set_t>();
        for cpu in taken.iter().filter_map(|cpu| usize::try_from(*cpu).ok()) {
            if numbers.contains(&cpu) {
                // SAFETY: the number is in the range of the set.
                unsafe { libc::CPU_CLR(cpu, &mut others) };
            }
        }
        // SAFETY: reads a set.
        if unsafe { libc::CPU_COUNT(&others) } == 0 {
            return;
        }
        if set_allowed(&others) {
            set_allowed(&allowed);
        }
    }

    /// The CPUs that the calling thread may run on.
    pub(super) fn allowed() -> Option<libc::cpu_set_t> {
        // SAFETY: zeros are an empty set.
        let mut set: libc::cpu_set_t = unsafe { zeroed() };
        // SAFETY: the size is the size of the set; 0 is the calling thread.
        let failed = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
        (failed == 0).then_some(set)
    }

    fn set_allowed(set: &libc::cpu_set_t) -> bool {
        // SAFETY: as in `allowed`.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) == 0 }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn cpu() -> Option<u32> {
        None
    }

    pub(super) fn leave(_: &[u32]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_not_moved_again_at_once() {
        assert!(is_due(None));
        assert!(!is_due(Some(Instant::now())));
        let before = Instant::now().checked_sub(2 * PAUSE);
        assert!(is_due(before));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_may_run_on_the_same_cpus_after_a_move() {
        let cpus = || {
            let set = system::allowed().unwrap();
            // SAFETY: the numbers are in the range of the set.
            let contains = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
            (0..libc::CPU_SETSIZE as usize).filter(contains).collect::<Vec<_>>()
        };
        let before = cpus();
        let all: Vec<u32> = before.iter().map(|cpu| *cpu as u32).collect();
        for taken in [&[][..], &all[..1], &all[..], &[u32::MAX, 1 << 20]] {
            system::leave(taken);
            assert_eq!(cpus(), before, "{taken:?}");
        }
    }

    #[test]
    fn threads_without_a_place_stay() {
        let places = Places::<2>::new();
        places.record(5);
        places.separate(5);
        places.record(0);
        places.separate(1);
    }
}
