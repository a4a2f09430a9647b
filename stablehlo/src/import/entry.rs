// SPDX-License-Identifier: Apache-2.0
//! Finds the entry function of a program.

use super::refusal::Refusal;
use melior::ir::{Module, OperationRef};
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::ir;
use skript_passes::ir::func::{is_private, symbol};
use skript_passes::ir::ops;

/// The entry function, which is compiled.
pub(super) fn entry<'c, 'a>(module: &'a Module<'c>) -> Result<OperationRef<'c, 'a>, Refusal> {
    let functions = ir::operations(module.body());
    let functions: Vec<_> = functions.into_iter().filter(|f| op::is(f, ops::func::FUNC)).collect();
    let is_empty = functions.is_empty();
    entry_of(functions).ok_or_else(|| Refusal {
        malformed: true,
        message: if is_empty {
            "there is no function `main`".to_owned()
        } else {
            "several functions are public and none is named `main`".to_owned()
        },
        source_position: None,
    })
}

/// `@main`, or the only public function.
pub(crate) fn entry_of<'c, 'a>(functions: Vec<OperationRef<'c, 'a>>) -> Option<OperationRef<'c, 'a>> {
    if let Some(main) = functions.iter().find(|f| op_name(**f) == "main") {
        return Some(*main);
    }
    let mut visible = functions.into_iter().filter(|f| !is_private(*f));
    visible.next().filter(|_| visible.next().is_none())
}

pub(crate) fn op_name(function: OperationRef) -> String {
    symbol(function).unwrap_or_default()
}
