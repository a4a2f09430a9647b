// SPDX-License-Identifier: Apache-2.0
//! Checks one definition: its blocks in the order of visibility (2.2).

use crate::ast::Definition;
use crate::check::blocks::{check_blocks, check_names, check_type_parameters};
use crate::check::checker::{Checker, Context};
use crate::check::composition::check_compositions;
use crate::check::formulas::check_formulas;
use crate::check::quantization::check_quantizations;
use crate::check::scope::Scope;
use crate::check::signatures::Environment;
use crate::check::using::{check_assertions, check_usings};
use crate::diagnostics::Sink;
use crate::source::Span;
use crate::value_types::ValueTypes;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn check_definition<'a>(
    env: &'a Environment<'a>,
    module: &'a str,
    definition: &'a Definition,
    (sink, types): (&mut Sink, &mut ValueTypes),
) {
    let mut checker = Checker {
        env,
        module,
        definition,
        sink: Sink::after(sink),
        scope: Scope::new(),
        context: Context::CompileTime,
        where_now: "here",
        generics: Vec::new(),
        khronos: env.is_khronos(module),
        in_subscript: false,
        in_intermediate: false,
        hidden: FxHashMap::default(),
        ended: FxHashMap::default(),
        written: FxHashMap::default(),
        formulas: None,
        ambiguous: FxHashSet::default(),
        unread: 0,
        reported: FxHashSet::default(),
        types,
    };
    check_blocks(&mut checker);
    check_type_parameters(&mut checker);
    check_names(&mut checker);
    checker.declare_parameters();
    checker.check_attributes();
    checker.check_inputs();
    check_usings(&mut checker);
    checker.check_constants();
    checker.check_variables();
    checker.check_outputs();
    check_assertions(&mut checker);
    check_formulas(&mut checker);
    check_compositions(&mut checker);
    check_quantizations(&mut checker);
    let is_repaired = |span: Span| definition.repaired.iter().any(|r| r.holds(span));
    let mut last = None;
    for diagnostic in checker.sink.into_sorted() {
        // Helpers that were expanded in `@input` are also checked there, so their diagnostics occur twice.
        let key = (diagnostic.span, diagnostic.message.clone());
        let is_new = last.as_ref() != Some(&key);
        last = Some(key);
        if is_new && !diagnostic.span.is_some_and(is_repaired) {
            sink.report(diagnostic);
        }
    }
}
