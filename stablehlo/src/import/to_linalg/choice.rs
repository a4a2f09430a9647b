// SPDX-License-Identifier: Apache-2.0
//! `select` and `clamp` with conditions or bounds that may be scalars.

use super::generic::{Port, dims, empty, generic};
use super::operation::{Found, Tensor};
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

/// The subscripts of an operand: its only element if its rank is 0.
fn position(operand: &Tensor, rank: usize) -> Vec<String> {
    dims(0..operand.rank().min(rank))
}

pub(crate) fn select<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let e = found.result()?.element.text();
    let body = format!("%r = arith.select %i0, %i1, %i2 : {e}\nlinalg.yield %r : {e}");
    map(found, &body)
}

/// `min(max(x, low), high)`
pub(crate) fn clamp<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let e = found.result()?.element.text();
    let body = format!(
        "%m = stablehlo.maximum %i1, %i0 : {e}\n%r = stablehlo.minimum %m, %i2 : {e}\nlinalg.yield %r : {e}"
    );
    map(found, &body)
}

fn map<'c: 'a, 'a>(found: &Found<'c, 'a>, body: &str) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let result = found.result()?;
    let rank = result.rank();
    let mut lines = Lines::default();
    let inputs: Vec<Port> = (0..)
        .zip(&found.operands)
        .map(|(n, t): (usize, _)| Port::new(&format!("%{n}"), t, position(t, rank)))
        .collect();
    let out = empty(&mut lines, result);
    let out = Port::new(&out, result, dims(0..rank));
    let made = generic(&mut lines, rank, 0, &inputs, &[out], body);
    Ok(found.splice(&lines, &made)?.values)
}
