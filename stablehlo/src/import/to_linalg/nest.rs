// SPDX-License-Identifier: Apache-2.0
//! Nests of `scf` loops.

use super::operation::Values;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::Builder;
use skript_passes::ir::scf::fold_all;

/// Emits the body of loops from their indices and loop-carried values; returns the yielded values.
pub(super) type Body<'b, 'c, 'a> =
    dyn FnMut(&Builder<'c, 'a>, &[Value<'c, 'a>], &[Value<'c, 'a>]) -> Values<'c, 'a> + 'b;

/// Emits a nest with one loop per extent, the last extent innermost. Returns the final loop-carried values.
pub(crate) fn nest<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    extents: &[i64],
    inits: &[Value<'c, 'a>],
    body: &mut Body<'_, 'c, 'a>,
) -> Values<'c, 'a> {
    level(at, extents, inits, &mut Vec::new(), body)
}

fn level<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    extents: &[i64],
    inits: &[Value<'c, 'a>],
    indices: &mut Vec<Value<'c, 'a>>,
    body: &mut Body<'_, 'c, 'a>,
) -> Values<'c, 'a> {
    let Some((extent, inner)) = extents.split_first() else {
        return body(at, indices, inits);
    };
    fold_all(at, [0, *extent, 1].map(|bound| at.idx(bound)), inits, |inside, index, carried| {
        indices.push(index);
        let results = level(inside, inner, carried, indices, body);
        indices.pop();
        results
    })
}
