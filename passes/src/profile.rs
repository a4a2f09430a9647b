// SPDX-License-Identifier: Apache-2.0
//! Profiles: code that reports to the runtime which step it computes, and a table of the steps.
//!
//! A step is an operation of the entry, or of a loop of it, that reads and writes arrays: a kernel, a loop nest, a copy.
//! [`mark`] puts a call of `skript_profile` before each, while operations still say what they compute; [`number`] reads
//! what has become of them after schedules, drops the marks of what kernels of others compute or what is prepared, and
//! numbers the rest. A mark ends the step before it, so that no time counts twice. On a GPU each launch is a step ([`kernels`]).

pub(crate) mod kernels;
pub(crate) mod mark;
pub(crate) mod number;
mod work;

use crate::ir::func::callee;
use crate::ir::{self, attributes, ops};
use melior::ir::attribute::{ArrayAttribute, StringAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, TypeLike, ValueLike};
use skript_runtime::profile::{Plan, SYMBOL, Step};

/// Of a mark: the calls of each operator that the step computes, the main one first.
const OPERATORS: &str = "skript.operators";
/// Of a mark: its operations, with dynamic extents as 1.
const WEIGHT: &str = "skript.weight";
/// Of a mark whose second argument is not the number of operations, because it is not known.
const UNCOUNTED: &str = "skript.uncounted";
/// Of a module: its numbered steps.
const TABLE: &str = "skript.profile";

/// Whether an operation is a mark.
fn is_mark(op: OperationRef) -> bool {
    ir::name(op) == ops::func::CALL && callee(op).as_deref() == Some(SYMBOL)
}

/// What an operation is to a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A step of its own.
    Step,
    /// Control flow around steps.
    Around,
    /// Scalars, views and allocations, which count with the step before.
    None,
}

impl Role {
    fn of(op: OperationRef) -> Role {
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
                    is_mark(*op) || (!is_loop && Role::of(*op) == Role::Step)
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

/// Whether a branch does nothing but call one of several kernels.
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

fn items(attribute: Attribute<'_>) -> Vec<Attribute<'_>> {
    let array = ArrayAttribute::try_from(attribute).ok();
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}

fn text(attribute: Attribute) -> Option<String> {
    let text = StringAttribute::try_from(attribute).ok();
    text.map(|text| text.value().to_owned())
}

/// The lists of such an attribute.
fn read_lists(attribute: Attribute) -> Vec<Vec<String>> {
    let list = |list| items(list).into_iter().filter_map(text).collect();
    items(attribute).into_iter().map(list).collect()
}

/// The plan that an attribute of a kernel describes.
fn plan(attribute: Attribute) -> Option<Plan> {
    let texts: Vec<String> = items(attribute).into_iter().filter_map(text).collect();
    let [key, number, count, text] = texts.try_into().ok()?;
    Some(Plan { key, number: number.parse().ok()?, count: count.parse().ok()?, text })
}

/// The steps that [`number`] left at a module, by number.
pub(crate) fn table(module: OperationRef) -> Vec<Step> {
    let rows = module.attribute(TABLE).map(items).unwrap_or_default();
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
