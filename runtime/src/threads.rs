// SPDX-License-Identifier: Apache-2.0
//! The thread pool of compiled code: loops over independent steps, on the number of threads that the caller requests.
//!
//! Compiled code calls [`skript_parallel`] with a function and a number of steps. The steps are divided into as many
//! shares as there are threads, in order, and a share into ranges. A thread executes first the ranges of the share that
//! is assigned to it, then the remaining ranges of other shares. A delayed thread therefore does not delay the loop;
//! otherwise the steps of two loops over the same array run on the same thread, whose cache holds that part of the
//! array. The result of a step does not depend on the thread that computes it, so results do not depend on the number
//! of threads.
//!
//! Workers start with the first loop that needs them. Between loops they spin briefly, then park: a network runs
//! hundreds of short loops, and waking a thread takes longer than many of these loops.
//!
//! A worker that shares a CPU with a preceding thread moves to another CPU ([`placement`]).
//!
//! The pool runs one loop at a time. A nested loop, or a loop of another thread while the pool is in use, runs on its
//! calling thread alone.

mod placement;

use placement::Places;
use std::cell::Cell;
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A function of compiled code that computes the steps from the second argument up to the third. The first is the
/// context that the loop was started with.
pub(crate) type Task = unsafe extern "C" fn(*const c_void, i64, i64);

/// The symbol that compiled code calls.
pub(crate) const SYMBOL: &str = "skript_parallel";

/// The environment variable for the default number of threads.
pub(crate) const VARIABLE: &str = "SKRIPT_NUM_THREADS";

/// Maximum number of threads.
pub(crate) const MAX_THREADS: usize = 256;

/// The number of ranges of a share.
const RANGES_PER_SHARE: u64 = 4;

/// How long a worker spins before it parks.
const SPIN: Duration = Duration::from_micros(50);

/// The value of [`set_default_threads`]; 0 if it was not called.
static DEFAULT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of threads of loops that this thread starts; 0 for the default.
    static WANTED: Cell<usize> = const { Cell::new(0) };
}

/// The default number of threads of a loop: the value of [`set_default_threads`], else the value of
/// `SKRIPT_NUM_THREADS`, else the number of CPUs that the affinity mask and the control group's quota leave to this
/// process.
pub fn default_threads() -> usize {
    static MACHINE: OnceLock<usize> = OnceLock::new();
    let requested = DEFAULT.load(Ordering::Relaxed);
    if requested != 0 {
        return requested;
    }
    *MACHINE.get_or_init(|| {
        let requested = std::env::var(VARIABLE).ok();
        let requested = requested.and_then(|text| text.trim().parse().ok());
        requested.filter(|threads| (1..=MAX_THREADS).contains(threads)).unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS)
        })
    })
}

/// Sets the value that [`default_threads`] returns; 0 restores the initial value.
pub fn set_default_threads(threads: usize) {
    DEFAULT.store(threads.min(MAX_THREADS), Ordering::Relaxed);
}

/// Executes `work`, whose loops run on up to `threads` threads; 0 means [`default_threads`].
pub(crate) fn with_threads<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            WANTED.set(self.0);
        }
    }
    let _restore = Restore(WANTED.replace(threads.min(MAX_THREADS)));
    work()
}

/// The unclaimed ranges of a share: the first in the lower half, the end in the upper half. Aligned to prevent false
/// sharing.
#[repr(align(128))]
struct Share(AtomicU64);

impl Share {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn fill(&self, from: u32, to: u32) {
        let packed = u64::from(from) | u64::from(to) << 32;
        self.0.store(packed, Ordering::Relaxed);
    }

    /// Claims the first range for the thread of the share, the last range for any other thread.
    fn claim(&self, first: bool) -> Option<u32> {
        let halves = |packed: u64| (packed as u32, (packed >> 32) as u32);
        let less = |packed: u64| {
            let (from, to) = halves(packed);
            (from < to).then(|| if first { packed + 1 } else { packed - (1 << 32) })
        };
        let claimed = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        let (from, to) = halves(claimed.ok()?);
        Some(if first { from } else { to - 1 })
    }
}

/// A loop in progress, on the stack of the thread that started it.
struct Loop<'pool> {
    task: Task,
    context: *const c_void,
    steps: u64,
    /// The number of ranges.
    ranges: u64,
    /// One for each thread.
    shares: &'pool [Share],
}

impl Loop<'_> {
    /// The first step of a range.
    fn begin(&self, range: u64) -> i64 {
        let first = u128::from(self.steps) * u128::from(range) / u128::from(self.ranges);
        first as i64
    }

    /// Computes as the thread of a share until no range is left. Threads without a share compute nothing.
    fn work(&self, share: usize) {
        if share >= self.shares.len() {
            return;
        }
        let shares = self.shares.iter().cycle().skip(share);
        for (at, share) in shares.take(self.shares.len()).enumerate() {
            while let Some(range) = share.claim(at == 0) {
                let range = u64::from(range);
                let (from, to) = (self.begin(range), self.begin(range + 1));
                // SAFETY: the thread that started the loop waits for its end, so the context is alive; compiled code does
                // not unwind.
                unsafe { (self.task)(self.context, from, to) };
            }
        }
    }
}

/// The state shared by the workers and the threads that start loops.
struct Pool {
    /// Whether a thread uses the pool.
    taken: AtomicBool,
    /// The loop that workers may join; null if no loop runs.
    current: AtomicPtr<Loop<'static>>,
    /// The number of loops so far, by which workers detect a new loop.
    epoch: AtomicU64,
    /// The number of workers that may hold a reference to the current loop.
    inside: AtomicUsize,
    /// The shares of the current loop. The first belongs to the thread that starts the loop, share `n + 1` to worker `n`.
    shares: [Share; MAX_THREADS],
    /// The CPUs of the threads, in the order of the shares.
    places: Places<MAX_THREADS>,
    /// The number of started workers.
    workers: AtomicUsize,
    /// The number of workers that are parked or about to park.
    parked: Mutex<usize>,
    wake: Condvar,
}

static POOL: Pool = Pool {
    taken: AtomicBool::new(false),
    current: AtomicPtr::new(std::ptr::null_mut()),
    epoch: AtomicU64::new(0),
    inside: AtomicUsize::new(0),
    shares: [const { Share::new() }; MAX_THREADS],
    places: Places::new(),
    workers: AtomicUsize::new(0),
    parked: Mutex::new(0),
    wake: Condvar::new(),
};

impl Pool {
    /// Executes a loop on up to `threads` threads. The calling thread, one of them, holds the pool.
    fn run(&'static self, task: Task, context: *const c_void, steps: u64, threads: usize) {
        self.start(threads - 1);
        self.places.record(0);
        let shares = self.shares.get(..threads).unwrap_or(&self.shares);
        let ranges = steps.min(RANGES_PER_SHARE * threads as u64);
        for (at, share) in shares.iter().enumerate() {
            let begin = |at: usize| (ranges * at as u64 / threads as u64) as u32;
            share.fill(begin(at), begin(at + 1));
        }
        let todo = Loop { task, context, steps, ranges, shares };
        self.current.store(std::ptr::from_ref(&todo).cast_mut(), Ordering::SeqCst);
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
        if *parked > 0 {
            self.wake.notify_all();
        }
        drop(parked);
        todo.work(0);
        // No worker joins from here on: a worker that saw the loop has counted itself before.
        self.current.store(std::ptr::null_mut(), Ordering::SeqCst);
        let mut waits = 0_u32;
        while self.inside.load(Ordering::SeqCst) != 0 {
            pause(&mut waits);
        }
    }

    /// Starts threads until there are `count` workers, or the system refuses more.
    fn start(&'static self, count: usize) {
        let mut workers = self.workers.load(Ordering::Relaxed);
        while workers < count {
            let builder = std::thread::Builder::new().name("skript-worker".to_owned());
            if builder.spawn(move || self.serve(workers + 1)).is_err() {
                return;
            }
            workers += 1;
            self.workers.store(workers, Ordering::Relaxed);
        }
    }

    /// The main loop of a worker, which takes share `worker` first.
    fn serve(&self, worker: usize) {
        // The worker also joins a loop that started before it.
        let mut seen = u64::MAX;
        loop {
            seen = self.next_epoch(seen);
            self.places.separate(worker);
            self.inside.fetch_add(1, Ordering::SeqCst);
            let current = self.current.load(Ordering::SeqCst);
            // SAFETY: the thread that started the loop waits until `inside` is 0 after it has removed the loop; this
            // worker counted itself before it read the pointer.
            if let Some(current) = unsafe { current.as_ref() } {
                current.work(worker);
            }
            self.inside.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Waits until the number of loops differs from `seen`: spins, then parks.
    fn next_epoch(&self, seen: u64) -> u64 {
        let changed = || Some(self.epoch.load(Ordering::SeqCst)).filter(|epoch| *epoch != seen);
        let begin = Instant::now();
        while begin.elapsed() < SPIN {
            for _ in 0..64 {
                if let Some(epoch) = changed() {
                    return epoch;
                }
                std::hint::spin_loop();
            }
        }
        let mut parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
        *parked += 1;
        loop {
            if let Some(epoch) = changed() {
                *parked -= 1;
                return epoch;
            }
            parked = self.wake.wait(parked).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Waits briefly: spins at first, then yields the CPU.
fn pause(waits: &mut u32) {
    *waits = waits.saturating_add(1);
    match *waits {
        ..2000 => std::hint::spin_loop(),
        _ => std::thread::yield_now(),
    }
}

/// Computes the steps `0..steps` of `task`, in any order, on the threads of the pool; returns after all steps.
///
/// # Safety
/// `task` must be callable with `context` on any thread, for different ranges of steps at the same time.
pub unsafe extern "C" fn skript_parallel(task: Task, context: *const c_void, steps: i64) {
    let wanted = match WANTED.get() {
        0 => default_threads(),
        wanted => wanted,
    };
    let threads = wanted.min(steps.max(0) as usize);
    let free = || POOL.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
    if threads < 2 || !free() {
        // SAFETY: by the caller.
        unsafe { task(context, 0, steps) };
        return;
    }
    POOL.run(task, context, steps as u64, threads);
    POOL.taken.store(false, Ordering::Release);
}

/// The context of [`share`]: a function of a range of steps, and whether it panicked.
struct Shared<'s> {
    work: &'s (dyn Fn(Range<usize>) + Sync),
    has_panicked: AtomicBool,
}

/// Calls a function with disjoint ranges that cover `0..steps`, on the threads of the pool.
///
/// # Panics
/// If `work` panics on any thread.
pub(crate) fn share(steps: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    /// # Safety
    /// `context` is a [`Shared`].
    unsafe extern "C" fn step(context: *const c_void, from: i64, to: i64) {
        // SAFETY: by the caller.
        let shared = unsafe { &*context.cast::<Shared<'_>>() };
        let range = from as usize..to as usize;
        let work = AssertUnwindSafe(|| (shared.work)(range));
        if catch_unwind(work).is_err() {
            shared.has_panicked.store(true, Ordering::Relaxed);
        }
    }
    let shared = Shared { work, has_panicked: AtomicBool::new(false) };
    let context = std::ptr::from_ref(&shared).cast();
    // SAFETY: the context is alive until the call returns, and many threads may use it.
    unsafe { skript_parallel(step, context, steps as i64) };
    assert!(!shared.has_panicked.into_inner(), "a step panicked");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn steps_are_shared_once_each() {
        let counts: Vec<AtomicU32> = (0..1000).map(|_| AtomicU32::new(0)).collect();
        with_threads(3, || {
            share(counts.len(), &|range| {
                for count in &counts[range] {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        });
        assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    }

    /// Counts in each element how often its step was computed.
    unsafe extern "C" fn count(context: *const c_void, from: i64, to: i64) {
        // SAFETY: the tests pass a vector of counters.
        let counters = unsafe { &*context.cast::<Vec<AtomicU32>>() };
        for step in from..to {
            counters[step as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counted(threads: usize, steps: usize) -> Vec<u32> {
        let counters: Vec<AtomicU32> = (0..steps).map(|_| AtomicU32::new(0)).collect();
        let context = std::ptr::from_ref(&counters).cast();
        // SAFETY: `count` works on any thread.
        with_threads(threads, || unsafe { skript_parallel(count, context, steps as i64) });
        counters.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[test]
    fn every_step_is_computed_once() {
        for threads in [1, 2, 3, 8] {
            for steps in [0, 1, 2, 3, 7, 8, 9, 100, 1001] {
                let counts = counted(threads, steps);
                assert_eq!(counts, vec![1; steps], "{threads} threads, {steps} steps");
            }
        }
    }

    #[test]
    fn loops_of_several_threads_and_after_a_pause_are_complete() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..200 {
                        assert_eq!(counted(3, 64), vec![1; 64]);
                        if round % 50 == 0 {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                    }
                });
            }
        });
    }

    unsafe extern "C" fn nested(context: *const c_void, from: i64, to: i64) {
        for _ in from..to {
            // SAFETY: `count` works on any thread.
            unsafe { skript_parallel(count, context, 10) };
        }
    }

    #[test]
    fn a_loop_inside_of_a_loop_is_complete() {
        let counters: Vec<AtomicU32> = (0..10).map(|_| AtomicU32::new(0)).collect();
        let context = std::ptr::from_ref(&counters).cast();
        // SAFETY: `nested` works on any thread.
        with_threads(4, || unsafe { skript_parallel(nested, context, 20) });
        assert!(counters.iter().all(|c| c.load(Ordering::Relaxed) == 20));
    }
}
