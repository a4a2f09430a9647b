// SPDX-License-Identifier: Apache-2.0
//! Profiles: how long the steps of a call took.
//!
//! Code that was compiled for a profile calls `skript_profile` where a step begins. The thread that records keeps the
//! times; in other threads, and without [`record`], the call has no effect.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The symbol that code calls: `void (size_t step, size_t flops, size_t bytes)`; the step 0 is none.
pub const SYMBOL: &str = "skript_profile";

/// Maximum number of recorded spans; further steps count in the sums alone.
const MOST_SPANS: usize = 1 << 20;

/// A step of compiled code: a kernel, a loop nest, a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The calls of each operator that it computes, the main one first; innermost call first, as `path:line:column:
    /// name`.
    pub operators: Vec<Vec<String>>,
    /// The symbol of its kernel, or the kind of its loops.
    pub kernel: String,
    /// How its result lies in memory, and the order of a packed operand.
    pub layout: String,
    /// Whether the code states the operations of the step.
    pub is_counted: bool,
    /// The plan of its kernel, if that was chosen.
    pub plan: Option<Plan>,
}

/// One of the plans that a kernel may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The key of the kernel: equal kernels have one.
    pub key: String,
    /// The number of the plan, from 0, the one that the cost model selects.
    pub number: usize,
    /// The number of plans that the kernel may have.
    pub count: usize,
    /// What the plan is.
    pub text: String,
}

/// The sums of one step over the recorded time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// How often it ran.
    pub count: u64,
    /// The time on the calling thread.
    pub time: Duration,
    /// Operations on reals.
    pub flops: u64,
    /// The bytes of the arrays that it reads or writes, each array once.
    pub bytes: u64,
}

/// One execution of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of the step, from 0.
    pub step: usize,
    /// Its begin, from that of the recording.
    pub begin: Duration,
    /// Its length.
    pub length: Duration,
}

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// By step.
    pub sums: Vec<Sums>,
    /// In order of time; only so many are kept as memory is reasonable for.
    pub spans: Vec<Span>,
    /// The time of all that was recorded.
    pub total: Duration,
}

struct Recorder {
    profile: Profile,
    origin: Instant,
    /// The step that runs, and its begin.
    running: Option<(usize, Instant)>,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Records the steps of what `call` executes on this thread, of code with so many steps.
pub fn record<R>(steps: usize, call: impl FnOnce() -> R) -> (R, Profile) {
    let profile = Profile {
        sums: vec![Sums::default(); steps],
        // Memory for the first executions: no step waits for it.
        spans: Vec::with_capacity(steps.saturating_mul(4).min(MOST_SPANS)),
        total: Duration::ZERO,
    };
    let origin = Instant::now();
    let recorder = Recorder { profile, origin, running: None };
    RECORDER.with(|slot| slot.replace(Some(recorder)));
    let result = call();
    let end = Instant::now();
    let recorder = RECORDER.with(RefCell::take);
    let mut profile = match recorder {
        Some(mut recorder) => {
            recorder.end(end);
            recorder.profile
        }
        None => Profile::default(),
    };
    profile.total = end.duration_since(origin);
    (result, profile)
}

impl Recorder {
    /// Ends the step that runs.
    fn end(&mut self, now: Instant) {
        let Some((step, begin)) = self.running.take() else {
            return;
        };
        let length = now.duration_since(begin);
        if let Some(sums) = self.profile.sums.get_mut(step) {
            sums.time += length;
        }
        if self.profile.spans.len() < MOST_SPANS {
            self.profile.spans.push(Span { step, begin: begin.duration_since(self.origin), length });
        }
    }

    fn begin(&mut self, number: usize, flops: usize, bytes: usize) {
        self.end(Instant::now());
        let Some(step) = number.checked_sub(1) else {
            return;
        };
        if let Some(sums) = self.profile.sums.get_mut(step) {
            sums.count += 1;
            sums.flops = sums.flops.saturating_add(flops as u64);
            sums.bytes = sums.bytes.saturating_add(bytes as u64);
            self.running = Some((step, Instant::now()));
        }
    }
}

/// Whether this thread records.
pub(crate) fn is_recording() -> bool {
    RECORDER.with_borrow(Option::is_some)
}

/// Begins a step, and ends the one before, for which a device is waited.
pub(crate) extern "C" fn skript_profile(step: usize, flops: usize, bytes: usize) {
    if is_recording() {
        crate::device::wait();
    }
    RECORDER.with(|slot| {
        if let Ok(mut recorder) = slot.try_borrow_mut()
            && let Some(recorder) = recorder.as_mut()
        {
            recorder.begin(step, flops, bytes);
        }
    });
}

impl Profile {
    /// The time outside of all steps.
    pub fn rest(&self) -> Duration {
        let steps = self.sums.iter().map(|sums| sums.time).sum();
        self.total.saturating_sub(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_and_never_exceed_the_total() {
        let ((), profile) = record(2, || {
            skript_profile(1, 10, 4);
            std::thread::sleep(Duration::from_millis(2));
            skript_profile(2, 1, 8);
            skript_profile(1, 10, 4);
            skript_profile(0, 0, 0);
            std::thread::sleep(Duration::from_millis(2));
            // No step of the code.
            skript_profile(7, 1, 1);
        });
        let [first, second] = profile.sums.as_slice() else { panic!("{profile:?}") };
        assert_eq!((first.count, first.flops, first.bytes), (2, 20, 8));
        assert_eq!((second.count, second.flops, second.bytes), (1, 1, 8));
        assert!(first.time >= Duration::from_millis(2));
        assert!(first.time + second.time <= profile.total);
        assert!(profile.rest() >= Duration::from_millis(2));
        let steps: Vec<usize> = profile.spans.iter().map(|span| span.step).collect();
        assert_eq!(steps, [0, 1, 0]);
    }

    #[test]
    fn without_a_recording_the_call_has_no_effect() {
        skript_profile(1, 1, 1);
        let ((), profile) = record(1, || ());
        assert_eq!(profile.sums, [Sums::default()]);
    }
}
