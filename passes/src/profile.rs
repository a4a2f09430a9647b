// SPDX-License-Identifier: Apache-2.0
//! Profiling: code that reports the step that it computes to the runtime, and a table of the steps.
//!
//! A step is an operation of the entry, or of a loop in it, that reads and writes arrays: a kernel, a loop nest, a copy.
//! [`mark`] inserts a call of `skript_profile` before each step, while operations are still recognizable. [`number`] runs after
//! the schedules. It removes marks of steps that became part of other kernels or are prepared, and numbers the others. A mark
//! ends the previous step, so that no time is counted twice. On a GPU, each launch is a step ([`kernels`]).

pub(crate) mod kernels;
pub(crate) mod mark;
pub(crate) mod number;
mod work;

use crate::ir::attributes::{items, text};
use crate::ir::func::callee;
use crate::ir::{self, attributes, ops, typed};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, TypeLike, ValueLike};
use skript_runtime::profile::{Plan, SYMBOL, Step};

/// Attribute of a mark: the calls of each operator that the step computes, starting with the main operator.
const OPERATORS: &str = "skript.operators";
/// Attribute of a mark: its number of operations, with dynamic extents as 1.
const WEIGHT: &str = "skript.weight";
/// Attribute of a mark whose number of operations is unknown, so that its second argument is invalid.
const UNCOUNTED: &str = "skript.uncounted";
/// Attribute of a module: its numbered steps.
const TABLE: &str = "skript.profile";

fn is_mark(op: OperationRef) -> bool {
    ir::name(op) == ops::func::CALL && callee(op).as_deref() == Some(SYMBOL)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A separate step.
    Step,
    /// Control flow around steps.
    Around,
    /// Scalars, views and allocations, which are part of the previous step.
    None,
}

impl Role {
    fn from_op(op: OperationRef) -> Role {
        let name = ir::name(op);
        match name.as_str() {
            ops::memref::COPY | ops::skript::INTRINSIC => Role::Step,
            ops::func::CALL if is_mark(op) => Role::None,
            ops::func::CALL => {
                if op.operands().any(|o| o.r#type().is_mem_ref()) {
                    Role::Step
                } else {
                    Role::None
                }
            }
            ops::linalg::YIELD | ops::linalg::INDEX => Role::None,
            _ if name.starts_with("linalg.") => Role::Step,
            ops::scf::PARALLEL => Role::Step,
            ops::scf::IF if is_choice(op) => Role::Step,
            ops::scf::FOR | ops::scf::IF | ops::scf::WHILE => {
                let inner = ir::nested(op);
                let holds_steps = inner.iter().any(|op| {
                    let is_loop = ir::name(*op).starts_with("scf.");
                    is_mark(*op) || (!is_loop && Role::from_op(*op) == Role::Step)
                });
                let writes = |op: &OperationRef| ir::name(*op) == ops::memref::STORE;
                match (holds_steps, inner.iter().any(writes)) {
                    (true, _) => Role::Around,
                    (false, true) => Role::Step,
                    (false, false) => Role::None,
                }
            }
            _ => Role::None,
        }
    }
}

/// Whether a branch only calls one of several kernels.
fn is_choice(branch: OperationRef) -> bool {
    ir::blocks(branch).into_iter().all(|block| {
        let operations = ir::operations(block);
        let [call, _] = operations.as_slice() else {
            return false;
        };
        ir::name(*call) == ops::func::CALL && !is_mark(*call)
    })
}

/// Lists of texts as an attribute.
fn lists<'c>(context: &'c melior::Context, lists: &[Vec<String>]) -> Attribute<'c> {
    let list = |list: &Vec<String>| -> Attribute<'c> {
        let texts = list.iter().map(|text| attributes::string(context, text));
        ArrayAttribute::new(context, &texts.collect::<Vec<_>>()).into()
    };
    let lists: Vec<Attribute> = lists.iter().map(list).collect();
    ArrayAttribute::new(context, &lists).into()
}

/// The lists of such an attribute.
fn read_lists(attribute: Attribute) -> Vec<Vec<String>> {
    let list = |list| items(list).into_iter().filter_map(text).collect();
    items(attribute).into_iter().map(list).collect()
}

/// The plan in an attribute of a kernel.
fn plan(attribute: Attribute) -> Option<Plan> {
    let texts: Vec<String> = items(attribute).into_iter().filter_map(text).collect();
    let [key, number, count, text] = texts.try_into().ok()?;
    Some(Plan { key, number: number.parse().ok()?, count: count.parse().ok()?, text })
}

/// The table of steps that [`number`] added to a module, by number.
pub(crate) fn table(module: OperationRef) -> Vec<Step> {
    let rows = typed::array(module, TABLE);
    let step = |row| {
        let of = |name| attributes::entry(row, name).and_then(text);
        let operators = attributes::entry(row, "operators").map(read_lists);
        Step {
            operators: operators.unwrap_or_default(),
            kernel: of("kernel").unwrap_or_default(),
            layout: of("layout").unwrap_or_default(),
            is_counted: attributes::entry(row, "counted").is_some(),
            plan: attributes::entry(row, "plan").and_then(plan),
        }
    };
    rows.into_iter().map(step).collect()
}
