// SPDX-License-Identifier: Apache-2.0
//! `select` and `clamp` with conditions or bounds that may be scalars.

use super::generic;
use super::generic::{Port, dims};
use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

/// The subscripts of an operand; none if its rank is 0.
fn position(operand: &Tensor, rank: usize) -> Vec<String> {
    dims(0..operand.rank().min(rank))
}

pub(crate) fn select<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let e = source.result()?.element.text();
    let body = format!("%r = arith.select %i0, %i1, %i2 : {e}\nlinalg.yield %r : {e}");
    map(source, &body)
}

/// `min(max(x, low), high)`
pub(crate) fn clamp<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let e = source.result()?.element.text();
    let body = format!(
        "%m = stablehlo.maximum %i1, %i0 : {e}\n%r = stablehlo.minimum %m, %i2 : {e}\nlinalg.yield %r : {e}"
    );
    map(source, &body)
}

fn map<'c: 'a, 'a>(source: &SourceOp<'c, 'a>, body: &str) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let result = source.result()?;
    let rank = result.rank();
    let mut lines = Lines::default();
    let inputs: Vec<Port> = (0..)
        .zip(&source.operands)
        .map(|(n, t): (usize, _)| Port::new(&format!("%{n}"), t, position(t, rank)))
        .collect();
    let name = generic::map(&mut lines, &inputs, result, body);
    source.replace(&lines, &name)
}
