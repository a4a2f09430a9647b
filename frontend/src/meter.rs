// SPDX-License-Identifier: Apache-2.0
//! The work of a composition, which the limit `work` bounds: evaluated expressions, items of packs, elements of constants,
//! steps of proofs.
//!
//! Code charges work with [`Limits::charge`] before it does it. Work that another limit bounds is charged afterwards, when its size
//! is known: searches for accesses, packs of one expression, nodes of one formula. One step is at most a tenth of a microsecond.

use crate::eval::Stop;
use crate::eval::stop::EvalResult;
use crate::limits::Limits;
use crate::program::Program;
use crate::source::Span;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The additional work per byte of a document: long documents need more.
const WORK_PER_BYTE: u64 = 64;

/// The bytes that one unit of work reads or writes.
const BYTES_PER_WORK: usize = 16;

/// The work of one composition so far, and the bound on it. A composition runs on one thread.
#[derive(Debug)]
pub struct Meter {
    spent: AtomicU64,
    allowed: u64,
    /// The location of the first refused work.
    exhausted: OnceLock<Span>,
    is_reported: AtomicBool,
}

/// Counts without a bound.
impl Default for Meter {
    fn default() -> Self {
        Meter::new(0, u64::MAX)
    }
}

/// A clone starts at the same count, and is separate.
impl Clone for Meter {
    fn clone(&self) -> Self {
        Meter::new(self.spent(), self.allowed)
    }
}

impl Meter {
    fn new(spent: u64, allowed: u64) -> Self {
        Meter {
            spent: AtomicU64::new(spent),
            allowed,
            exhausted: OnceLock::new(),
            is_reported: AtomicBool::new(false),
        }
    }

    /// The work so far.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Adds work; returns whether the bound allows it. Otherwise all later work is refused.
    fn add(&self, work: usize) -> bool {
        let spent = self.spent().saturating_add(u64::try_from(work).unwrap_or(u64::MAX));
        // Only one thread writes.
        self.spent.store(spent.min(self.allowed), Ordering::Relaxed);
        spent <= self.allowed
    }

    /// The work that the bound still allows.
    pub(crate) fn remaining(&self) -> u64 {
        self.allowed.saturating_sub(self.spent())
    }

    /// The text whose work exceeded the bound, once.
    pub(crate) fn unreported(&self) -> Option<Span> {
        let span = *self.exhausted.get()?;
        (!self.is_reported.swap(true, Ordering::Relaxed)).then_some(span)
    }

    /// Whether some work was refused.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.get().is_some()
    }
}

impl Limits {
    /// The same limits for the composition of a program, after `spent` work for the same command.
    pub(crate) fn metered(&self, program: &Program, spent: u64) -> Limits {
        let bytes: u64 = program.sources.files().map(|(_, file)| file.text.len() as u64).sum();
        let allowed = self.work.saturating_add(bytes.saturating_mul(WORK_PER_BYTE));
        Limits { meter: Meter::new(spent, allowed), ..self.clone() }
    }

    /// Charges work before it is done.
    pub(crate) fn charge(&self, work: usize, span: Span) -> EvalResult<()> {
        if self.meter.add(work) {
            return Ok(());
        }
        self.meter.exhausted.get_or_init(|| span);
        Err(Stop::Exhausted)
    }

    /// Charges the work of reading or writing memory before it is done.
    pub(crate) fn charge_bytes(&self, bytes: usize, span: Span) -> EvalResult<()> {
        self.charge(bytes.div_ceil(BYTES_PER_WORK), span)
    }

    /// The message for exhausted work.
    pub(crate) fn exhausted_message(&self) -> String {
        format!(
            "the model needs more work than the limit `work` allows, {} steps; this text needs the next ones",
            self.meter.allowed
        )
    }

    /// The help for exhausted work.
    pub(crate) fn exhausted_help(&self) -> String {
        let more = self.work.saturating_mul(4).max(self.meter.allowed);
        format!("make it smaller, or allow more: `--limit work={more}`")
    }
}
