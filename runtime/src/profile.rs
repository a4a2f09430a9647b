// SPDX-License-Identifier: Apache-2.0
//! Profiles: the time of each step of a call.
//!
//! Code that was compiled for a profile calls `skript_profile` at the beginning of each step. The recording thread stores
//! the times; in other threads, and without [`record`], the call has no effect.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The symbol that code calls: `void (size_t step, size_t flops, size_t bytes)`; step 0 means no step.
pub const SYMBOL: &str = "skript_profile";

/// Maximum number of recorded spans; further steps are only added to the sums.
const MAX_SPANS: usize = 1 << 20;

/// A step of compiled code: a kernel, a loop nest, a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The call stacks of the operators of the step, the main operator first; each stack has the innermost call first, as
    /// `path:line:column: name`.
    pub operators: Vec<Vec<String>>,
    /// The symbol of the kernel, or the kind of the loops.
    pub kernel: String,
    /// The layout of the result, and the order of a packed operand.
    pub layout: String,
    /// Whether the code reports the number of operations.
    pub is_counted: bool,
    /// The plan of the kernel, if the kernel has plans.
    pub plan: Option<Plan>,
}

/// One of the plans that a kernel may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The key of the kernel; equal kernels have equal keys.
    pub key: String,
    /// The number of the plan; the cost model selects plan 0.
    pub number: usize,
    /// The number of plans of the kernel.
    pub count: usize,
    /// A description of the plan.
    pub text: String,
}

/// The sums of one step over the recorded time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The number of executions.
    pub count: u64,
    /// The time on the calling thread.
    pub time: Duration,
    /// Floating-point operations.
    pub flops: u64,
    /// The bytes of the arrays that the step reads or writes, each array once.
    pub bytes: u64,
}

/// One execution of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of the step, from 0.
    pub step: usize,
    /// Its start, relative to the start of the recording.
    pub begin: Duration,
    /// Its duration.
    pub length: Duration,
}

/// The result of a recording.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The sums of each step.
    pub sums: Vec<Sums>,
    /// The executions in order of time; at most 2²⁰.
    pub spans: Vec<Span>,
    /// The total recorded time.
    pub total: Duration,
}

struct Recorder {
    profile: Profile,
    origin: Instant,
    /// The running step, and its start.
    running: Option<(usize, Instant)>,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Records the steps that `call` executes on this thread; the code has `steps` steps.
pub fn record<R>(steps: usize, call: impl FnOnce() -> R) -> (R, Profile) {
    let profile = Profile {
        sums: vec![Sums::default(); steps],
        // Preallocated, so that no step waits for an allocation.
        spans: Vec::with_capacity(steps.saturating_mul(4).min(MAX_SPANS)),
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
    /// Ends the running step.
    fn end(&mut self, now: Instant) {
        let Some((step, begin)) = self.running.take() else {
            return;
        };
        let length = now.duration_since(begin);
        if let Some(sums) = self.profile.sums.get_mut(step) {
            sums.time += length;
        }
        if self.profile.spans.len() < MAX_SPANS {
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

/// Whether this thread is recording.
pub(crate) fn is_recording() -> bool {
    RECORDER.with_borrow(Option::is_some)
}

/// Begins a step, and ends the previous step after the device has finished it.
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
            // Not a step of the code.
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
