// SPDX-License-Identifier: Apache-2.0
//! The diagnostics of a composition, with the operator call stack.

use crate::diagnostics::{Diagnostic, Sink};
use crate::model::FunctionRole;
use crate::source::Span;

/// The maximum number of open invocations that a message lists, from the error outwards and from the graph inwards.
const INNERMOST_NOTES: usize = 6;
const OUTERMOST_NOTES: usize = 3;

/// One open invocation.
pub(super) struct Frame {
    pub role: FunctionRole,
    pub name: String,
    /// The span of the invocation; `None` for the entry.
    pub call: Option<Span>,
}

/// The open invocations, and the sink for diagnostics about them.
pub(super) struct CallStack<'s> {
    pub(super) sink: &'s mut Sink,
    pub(super) frames: Vec<Frame>,
}

impl<'s> CallStack<'s> {
    pub(super) fn new(sink: &'s mut Sink) -> Self {
        CallStack { sink, frames: Vec::new() }
    }

    /// Reports with the call stack. Equal diagnostics of several instances of an operator are reported once.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) -> Reported {
        if self.sink.has_reported(&diagnostic) {
            return Reported;
        }
        for (span, text) in self.notes() {
            diagnostic = diagnostic.with_note(span, text);
        }
        self.sink.report(diagnostic);
        Reported
    }

    /// One line per open invocation, innermost first; only the first and last ones of a long chain.
    fn notes(&self) -> Vec<(Option<Span>, String)> {
        let mut notes: Vec<_> = self.frames.windows(2).rev().filter_map(note).collect();
        if notes.len() > INNERMOST_NOTES + OUTERMOST_NOTES + 1 {
            let outermost = notes.split_off(notes.len() - OUTERMOST_NOTES);
            let between = notes.split_off(INNERMOST_NOTES).len();
            notes.push((None, format!("… {between} more invocations …")));
            notes.extend(outermost);
        }
        notes
    }
}

fn note(frames: &[Frame]) -> Option<(Option<Span>, String)> {
    let [caller, callee] = frames else { return None };
    let role = |frame: &Frame| match frame.role {
        FunctionRole::Graph => "graph",
        FunctionRole::Operator => "operator",
    };
    let text =
        format!("in {} `{}`, called from {} `{}`", role(callee), callee.name, role(caller), caller.name);
    Some((callee.call, text))
}

/// The failure of an invocation or a declaration has been reported; values that depend on it are poison.
#[derive(Debug)]
pub(crate) struct Reported;

pub(super) type Composed<T> = Result<T, Reported>;
