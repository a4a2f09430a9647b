// SPDX-License-Identifier: Apache-2.0
//! `skript-raise-accumulations`: converts formulas that run in order to accumulations, whose order does not matter.
//!
//! `y[i] := max(y[i], x[i, j])` is `y[i] >= x[i, j]`. Maxima, minima, conjunctions, disjunctions, and sums and products of
//! 64-bit integers have the same value in every order. Sums and products of reals are not converted, because `:=` states the
//! order in which they are rounded. A formula that only writes `true` is a disjunction.
//!
//! Guarantees: results do not change.

use super::structured;
use crate::ir::skript::{Access, Formula};
use crate::ir::{self, attributes, mutation, ops, regions, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Pass, PassError, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-raise-accumulations",
    summary: "convert formulas that run in order to maxima, disjunctions and other accumulations",
    run: |root, _, rewriter| {
        for formula in structured::formulas(&root) {
            if let Some(accumulation) = Accumulation::read(formula) {
                let kind = attributes::accumulation(rewriter.context(), accumulation.kind);
                accumulation.convert(kind)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// A formula that combines its current element with another value.
struct Accumulation<'c, 'a> {
    formula: OperationRef<'c, 'a>,
    /// The terminator of the body.
    end: OperationRef<'c, 'a>,
    kind: &'static str,
    other: Other<'c, 'a>,
    /// The operations that combine the values and read the current element. They are erased if nothing else uses them.
    joins: Vec<OperationRef<'c, 'a>>,
}

/// The other value.
enum Other<'c, 'a> {
    Value(Value<'c, 'a>),
    /// The value of a branch of a conditional.
    Branch(OperationRef<'c, 'a>, usize),
}

impl<'c: 'a, 'a> Accumulation<'c, 'a> {
    fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        let formula = Formula::cast(op).filter(|formula| formula.kind() == "replace")?;
        if op.result_count() != 1 || structured::has_effects(op) {
            return None;
        }
        let body = formula.body().ok()?;
        let end = *ir::operations(body).last()?;
        let (value, subscripts) =
            end.operands().collect::<Vec<_>>().split_first().map(|(v, s)| (*v, s.to_vec()))?;
        if formula
            .predicate()
            .is_some_and(|block| !users_of_destination(block).is_some_and(|users| users.is_empty()))
        {
            return None;
        }
        let (kind, other, joins) = match users_of_destination(body)?[..] {
            [] if is_flag(value, 1) => ("any", Other::Value(value), Vec::new()),
            [] => ("all", Other::Value(Some(value).filter(|value| is_flag(*value, 0))?), Vec::new()),
            [access] => {
                let access = Access::cast(access).filter(|access| same(&access.subscripts(), &subscripts))?;
                let current = Value::from(access.op().result(0).ok()?);
                let [join] = ir::users(current)[..] else {
                    return None;
                };
                if Value::from(join.result(0).ok()?) != value {
                    return None;
                }
                let (kind, other) = combined(join, current)?;
                (kind, other, vec![join, access.op()])
            }
            _ => return None,
        };
        Some(Accumulation { formula: op, end, kind, other, joins })
    }

    fn convert(self, kind: melior::ir::Attribute<'c>) -> Result<(), PassError> {
        match self.other {
            Other::Value(value) => ir::use_instead(self.end, 0, value),
            Other::Branch(conditional, branch) => {
                let taken = regions::take(conditional, branch)?;
                let values = regions::inline(conditional, &taken)?;
                for (result, value) in conditional.results().zip(values) {
                    ir::replace_uses(result.into(), value);
                }
            }
        }
        for op in self.joins {
            if op.results().all(|result| !op::is_used(result)) {
                ir::erase(op);
            }
        }
        mutation::set(self.formula, "kind", kind);
        Ok(())
    }
}

/// The operations that use the destination of a formula in one of its blocks.
fn users_of_destination<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Option<Vec<OperationRef<'c, 'a>>> {
    ir::arguments(block).last().map(|destination| ir::users(*destination))
}

/// The kind of an accumulation and its other value, from the operation that combines the value with the current element.
fn combined<'c: 'a, 'a>(
    join: OperationRef<'c, 'a>,
    current: Value<'c, 'a>,
) -> Option<(&'static str, Other<'c, 'a>)> {
    let element = current.r#type();
    let is_bool = types::bits(element) == Some(1);
    let is_wide = element.is_integer() && types::bits(element) == Some(64);
    let name = ir::name(join);
    if name == ops::scf::IF {
        let branches = ir::blocks(join);
        let [then, otherwise] = branches[..] else {
            return None;
        };
        let selects = |block: BlockRef<'c, 'a>, flag: i64| {
            let end = ir::operations(block).last().and_then(|end| ir::operand_at(*end, 0));
            end.is_some_and(|value| is_flag(value, flag))
        };
        return if selects(then, 1) {
            Some(("any", Other::Branch(join, 1)))
        } else {
            selects(otherwise, 0).then_some(("all", Other::Branch(join, 0)))
        };
    }
    let kind = match name.as_str() {
        ops::skript::MAX => "max",
        ops::skript::MIN => "min",
        ops::skript::OR if is_bool => "any",
        ops::skript::AND if is_bool => "all",
        ops::skript::ADD if is_wide => "sum",
        ops::skript::MUL if is_wide => "product",
        _ => return None,
    };
    let [x, y] = ir::both_operands(join).ok()?;
    let other = if x == current { y } else { x };
    (other != current).then_some((kind, Other::Value(other)))
}

/// Whether a value is a constant bool.
fn is_flag(value: Value, flag: i64) -> bool {
    types::bits(value.r#type()) == Some(1) && ir::integer(value).is_some_and(|value| value.abs() == flag)
}

/// Whether subscripts are the same values, or equal constants.
fn same<'c: 'a, 'a>(some: &[Value<'c, 'a>], others: &[Value<'c, 'a>]) -> bool {
    let is_same =
        |(x, y): (&Value, &Value)| x == y || ir::integer(*x).is_some_and(|x| ir::integer(*y) == Some(x));
    some.len() == others.len() && some.iter().zip(others).all(is_same)
}
