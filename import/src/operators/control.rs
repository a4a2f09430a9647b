// SPDX-License-Identifier: Apache-2.0
//! Branches.

use super::{Operator, operator};
use crate::call::Call;
use crate::refusal::{Reason, Ruled};
use crate::statement::Body;

pub const OPERATORS: &[Operator] = &[operator(
    "If",
    "`if`, or the branch that the import decides",
    branch,
)];

fn branch(c: &mut Call) -> Ruled<()> {
    let condition = c.input(0)?;
    let known = condition.numbers().and_then(|v| v.first().copied());
    if let Some(known) = known {
        let taken = c.graph(if known != 0 {
            "then_branch"
        } else {
            "else_branch"
        })?;
        let block = c.importer.body(taken, Vec::new())?;
        c.importer.statements.extend(block.statements);
        for (at, value) in block.yields.into_iter().enumerate() {
            c.set(at, value);
        }
        return Ok(());
    }
    let (then, otherwise) = (c.graph("then_branch")?, c.graph("else_branch")?);
    let then = c.importer.body(then, Vec::new())?;
    let otherwise = c.importer.body(otherwise, Vec::new())?;
    let mut results = Vec::new();
    for (at, (a, b)) in then.yields.iter().zip(&otherwise.yields).enumerate() {
        if a.element != b.element || a.shape != b.shape {
            return Err(Reason(format!(
                "output {at} has another type or shape in each branch"
            )));
        }
        results.push(
            c.importer
                .value("if", a.element, a.shape.clone(), None, None),
        );
    }
    if then.yields.len() != otherwise.yields.len() {
        return Err("the branches have different numbers of outputs".into());
    }
    c.push(
        results.clone(),
        Body::If {
            condition,
            then,
            otherwise,
        },
    );
    for (at, value) in results.into_iter().enumerate() {
        c.set(at, value);
    }
    Ok(())
}
