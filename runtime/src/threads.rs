// SPDX-License-Identifier: Apache-2.0
//! The thread pool of compiled code: loops over independent steps, on as many threads as the caller asked for.
//!
//! Compiled code calls [`skript_parallel`] with a function and a number of steps. The calling thread and the workers
//! take ranges of steps until none is left. Which thread computes a step never decides what it computes, so results do
//! not depend on the number of threads.
//!
//! Workers start with the first loop that needs them. Between loops they spin briefly, then park: a network runs
//! hundreds of short loops, and to wake a thread takes longer than many of them.
//!
//! The pool runs one loop at a time. A loop inside of another one, or of another thread while the pool is taken, runs on
//! its calling thread alone.

use std::cell::Cell;
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
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
pub(crate) const MOST_THREADS: usize = 256;

/// The number of ranges of steps for each thread, so that delayed threads take fewer.
const RANGES_PER_THREAD: i64 = 4;

/// How long a worker spins before it parks.
const SPIN: Duration = Duration::from_micros(50);

/// The default that was set; 0 for none.
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
    let asked = DEFAULT.load(Ordering::Relaxed);
    if asked != 0 {
        return asked;
    }
    *MACHINE.get_or_init(|| {
        let asked = std::env::var(VARIABLE).ok();
        let asked = asked.and_then(|text| text.trim().parse().ok());
        let asked = asked.filter(|threads| (1..=MOST_THREADS).contains(threads));
        asked.unwrap_or_else(|| {
            std::thread::available_parallelism()
                .map_or(1, NonZeroUsize::get)
                .min(MOST_THREADS)
        })
    })
}

/// Sets what [`default_threads`] returns from now on; 0 restores what it returned at first.
pub fn set_default_threads(threads: usize) {
    DEFAULT.store(threads.min(MOST_THREADS), Ordering::Relaxed);
}

/// Executes `work`, whose loops run on up to `threads` threads; 0 means [`default_threads`].
pub(crate) fn with_threads<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            WANTED.set(self.0);
        }
    }
    let _restore = Restore(WANTED.replace(threads.min(MOST_THREADS)));
    work()
}

/// A loop in progress, on the stack of the thread that started it.
struct Loop {
    task: Task,
    context: *const c_void,
    steps: i64,
    /// The number of steps of a range.
    range: i64,
    /// The first step that no thread has claimed.
    next: AtomicI64,
    /// The number of workers that may still join.
    seats: AtomicUsize,
}

impl Loop {
    /// Computes ranges until none is left.
    fn work(&self) {
        loop {
            let from = self.next.fetch_add(self.range, Ordering::Relaxed);
            if from >= self.steps {
                return;
            }
            let to = (from + self.range).min(self.steps);
            // SAFETY: the thread that started the loop waits for its end, so the context is alive; compiled code does not
            // unwind.
            unsafe { (self.task)(self.context, from, to) };
        }
    }

    /// Joins the loop; false if the maximum number of workers has joined.
    fn join(&self) -> bool {
        let fewer = |seats: usize| seats.checked_sub(1);
        self.seats
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer)
            .is_ok()
    }
}

/// The state shared by the workers and the threads that start loops.
struct Pool {
    /// Whether a thread uses the pool.
    taken: AtomicBool,
    /// The loop that workers may join; null if there is none.
    current: AtomicPtr<Loop>,
    /// The number of loops so far, by which a worker notices a new one.
    epoch: AtomicU64,
    /// The number of workers that may hold a reference to the current loop.
    inside: AtomicUsize,
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
    workers: AtomicUsize::new(0),
    parked: Mutex::new(0),
    wake: Condvar::new(),
};

impl Pool {
    /// Executes a loop with up to `workers` workers beside the calling thread, which holds the pool.
    fn run(&'static self, todo: &Loop, workers: usize) {
        self.start(workers);
        self.current
            .store(std::ptr::from_ref(todo).cast_mut(), Ordering::SeqCst);
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
        if *parked > 0 {
            self.wake.notify_all();
        }
        drop(parked);
        todo.work();
        // No worker joins from here on: a worker that saw the loop has counted itself before.
        self.current.store(std::ptr::null_mut(), Ordering::SeqCst);
        let mut waits = 0_u32;
        while self.inside.load(Ordering::SeqCst) != 0 {
            pause(&mut waits);
        }
    }

    /// Starts threads until there are `count` workers, or the system refuses more.
    fn start(&'static self, count: usize) {
        while self.workers.load(Ordering::Relaxed) < count {
            let builder = std::thread::Builder::new().name("skript-worker".to_owned());
            if builder.spawn(move || self.serve()).is_err() {
                return;
            }
            self.workers.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The main loop of a worker.
    fn serve(&self) {
        // A loop that started before this worker did is joined as well.
        let mut seen = u64::MAX;
        loop {
            seen = self.next_epoch(seen);
            self.inside.fetch_add(1, Ordering::SeqCst);
            let current = self.current.load(Ordering::SeqCst);
            // SAFETY: the thread that started the loop waits until `inside` is 0 after it has removed the loop; this
            // worker counted itself before it read the pointer.
            if let Some(current) = unsafe { current.as_ref() }
                && current.join()
            {
                current.work();
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
            parked = self
                .wake
                .wait(parked)
                .unwrap_or_else(PoisonError::into_inner);
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

/// Computes the steps `0..steps` of `task`, in any order, on the threads of the pool; returns when all are done.
///
/// # Safety
/// `task` must be callable with `context` on any thread, for different ranges of steps at the same time.
pub unsafe extern "C" fn skript_parallel(task: Task, context: *const c_void, steps: i64) {
    let wanted = match WANTED.get() {
        0 => default_threads(),
        wanted => wanted,
    };
    let threads = wanted.min(usize::try_from(steps).unwrap_or(0));
    let free = || {
        POOL.taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    };
    if threads < 2 || !free() {
        // SAFETY: by the caller.
        unsafe { task(context, 0, steps) };
        return;
    }
    let ranges = RANGES_PER_THREAD * threads as i64;
    let todo = Loop {
        task,
        context,
        steps,
        range: (steps / ranges).max(1),
        next: AtomicI64::new(0),
        seats: AtomicUsize::new(threads - 1),
    };
    POOL.run(&todo, threads - 1);
    POOL.taken.store(false, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

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
        with_threads(threads, || unsafe {
            skript_parallel(count, context, steps as i64)
        });
        counters.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[test]
    fn every_step_is_computed_once() {
        for threads in [1, 2, 3, 8] {
            for steps in [0, 1, 2, 3, 7, 8, 9, 100, 1001] {
                let found = counted(threads, steps);
                assert_eq!(found, vec![1; steps], "{threads} threads, {steps} steps");
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
