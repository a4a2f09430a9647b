// SPDX-License-Identifier: Apache-2.0
//! The state that all steps of a composition share: definitions, options, limits, diagnostics, and the functions so far.

use super::ComposeOptions;
use super::calls::{CallStack, Frame};
use super::operators::{OperatorRef, OperatorTable};
use crate::ast::Expr;
use crate::compose::calls::{Composed, Reported};
use crate::compose::instances::InstanceInfo;
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::invocation_count::InvocationCounts;
use crate::compose::invocations::tensor_identity::IdentityTests;
use crate::diagnostics::codes::{ENDLESS_RECURSION, INTERNAL, LIMIT_EXCEEDED};
use crate::diagnostics::{Code, Diagnostic, Sink};
use crate::eval::stop::{EvalError, EvalResult};
use crate::eval::{Evaluator, Stop, Value};
use crate::limits::Limits;
use crate::model::{Function, FunctionId};
use crate::program::Program;
use crate::source::Span;
use rustc_hash::FxHashMap;
use skript_semantics::Scalar;

/// The total size of packs and constants. Counted over all instances of a model, because values of an instance may live as long as the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TotalSize {
    pub(crate) pack_items: usize,
    pub(crate) constant_elements: usize,
}

pub(crate) struct Context<'p, 's> {
    pub program: &'p Program,
    pub limits: &'p Limits,
    pub options: &'s ComposeOptions,
    pub(crate) operators: OperatorTable<'p>,
    pub(super) calls: CallStack<'s>,
    pub functions: Vec<Function>,
    pub(crate) infos: Vec<InstanceInfo>,
    /// By `ArgumentList::instance_key`.
    pub instances: FxHashMap<String, FunctionId>,
    pub invocations: usize,
    pub(crate) total_size: TotalSize,
    /// See [`Model::defaults`](crate::model::Model::defaults).
    pub defaults: Vec<(String, Vec<Scalar>)>,
    pub(crate) invocation_counts: InvocationCounts<'p>,
    pub(crate) identity_tests: IdentityTests<'p>,
}

impl<'p, 's> Context<'p, 's> {
    pub(super) fn new(
        program: &'p Program,
        limits: &'p Limits,
        options: &'s ComposeOptions,
        sink: &'s mut Sink,
    ) -> Self {
        Context {
            program,
            limits,
            options,
            operators: OperatorTable::new(program),
            calls: CallStack::new(sink),
            functions: Vec::new(),
            infos: Vec::new(),
            instances: FxHashMap::default(),
            invocations: 0,
            total_size: TotalSize::default(),
            defaults: Vec::new(),
            invocation_counts: InvocationCounts::default(),
            identity_tests: IdentityTests::default(),
        }
    }

    /// Opens an invocation; rejects nesting beyond the limit.
    pub(super) fn enter(&mut self, operator: &OperatorRef, call: Option<Span>) -> Composed<()> {
        let depth = self.calls.frames.len();
        if depth >= self.limits.call_depth {
            let name = self.operators.qualified(operator);
            let span = call.unwrap_or(operator.definition.name.span);
            let message = format!(
                "`{name}` is invoked {depth} levels deep (limit `call_depth`); operators that invoke each other must end"
            );
            return Err(self.error(&ENDLESS_RECURSION, span, message));
        }
        let name = self.operators.displayed(operator);
        self.calls.frames.push(Frame { role: operator.role(), name, call });
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.calls.frames.pop();
    }

    /// Adds a complete function.
    pub(crate) fn add(&mut self, function: Function, info: InstanceInfo) -> Composed<FunctionId> {
        let id = FunctionId(u32::try_from(self.functions.len()).map_err(|_| Reported)?);
        self.functions.push(function);
        self.infos.push(info);
        Ok(id)
    }

    /// Adds a function that the composer synthesized.
    pub(crate) fn add_synthesized(&mut self, function: Function) -> Composed<FunctionId> {
        if self.functions.len() >= self.limits.instances {
            let message =
                format!("the model has more than {} functions (limit `instances`)", self.limits.instances);
            return Err(self.error(&LIMIT_EXCEEDED, function.span, message));
        }
        self.add(function, InstanceInfo::default())
    }

    /// Reports with the operator call stack.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.calls.report(diagnostic)
    }

    pub(super) fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(code, span, message))
    }

    pub(super) fn failed(&mut self, stop: Stop) -> Reported {
        match stop {
            Stop::Error(error) => {
                let EvalError { code, span, message, help } = *error;
                let mut diagnostic = Diagnostic::error(code, span, message);
                if let Some(help) = help {
                    diagnostic = diagnostic.with_help(help);
                }
                self.report(diagnostic)
            }
            Stop::Exhausted => {
                if let Some(span) = self.limits.meter.unreported() {
                    let diagnostic =
                        Diagnostic::error(&LIMIT_EXCEEDED, span, self.limits.exhausted_message());
                    self.report(diagnostic.with_help(self.limits.exhausted_help()));
                }
                Reported
            }
            Stop::Unroll(_) | Stop::Poison => Reported,
        }
    }

    /// Charges work before it is done.
    pub(crate) fn charge(&mut self, work: usize, span: Span) -> Composed<()> {
        self.limits.charge(work, span).map_err(|stop| self.failed(stop))
    }

    /// Evaluates a compile-time expression that may contain tensors.
    pub(crate) fn value(&mut self, builder: &Builder, expr: &Expr) -> Composed<Value> {
        self.evaluated(builder, |evaluator| evaluator.eval(expr))
    }

    /// The result of an evaluation; failures are reported.
    pub(crate) fn evaluated<T>(
        &mut self,
        builder: &Builder,
        work: impl FnOnce(&mut Evaluator) -> EvalResult<T>,
    ) -> Composed<T> {
        work(&mut builder.evaluator(self.limits)).map_err(|s| self.failed(s))
    }

    /// Reports an internal error: the checker rejects all documents that reach this point.
    pub(super) fn unchecked(&mut self, span: Span) -> Reported {
        let message = "the checker accepted what cannot be composed here; please report this document";
        self.error(&INTERNAL, span, message)
    }

    /// The text of a span, for labels of printed values.
    pub(crate) fn source_text(&self, span: Span) -> String {
        let text = self.program.sources.text(span);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn error_count(&self) -> usize {
        self.calls.sink.error_count()
    }
}
