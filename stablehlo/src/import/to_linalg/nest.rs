// SPDX-License-Identifier: Apache-2.0
//! Emits `scf` loops as text.

use skript_passes::ir::splice::Lines;

/// The name and type of a loop-carried value.
pub(crate) type Carried = (String, String);

/// Writes the body of loops from their indices and loop-carried values; returns the yielded values.
pub(super) type Body<'b> = dyn FnMut(&mut Lines, &[String], &[String]) -> Vec<String> + 'b;

/// Like [`Body`], for one loop.
pub(crate) type OneBody<'b> = dyn FnMut(&mut Lines, &str, &[String]) -> Vec<String> + 'b;

/// Emits a nest with one loop per extent, the last extent innermost; `inner` emits the body and returns the yielded
/// values. Returns the names of the results.
pub(crate) fn nest(lines: &mut Lines, extents: &[i64], carried: &[Carried], inner: &mut Body) -> Vec<String> {
    level(lines, extents, carried, &mut Vec::new(), inner)
}

fn level(
    lines: &mut Lines,
    extents: &[i64],
    carried: &[Carried],
    indices: &mut Vec<String>,
    inner: &mut Body,
) -> Vec<String> {
    let Some((extent, inner_extents)) = extents.split_first() else {
        let names: Vec<String> = carried.iter().map(|c| c.0.clone()).collect();
        return inner(lines, indices, &names);
    };
    let start = index(lines, 0);
    let end = index(lines, *extent);
    let step = index(lines, 1);
    one(lines, [&start, &end, &step], carried, &mut |lines, i, values| {
        indices.push(i.to_owned());
        let types = carried.iter().map(|c| c.1.clone());
        let carried: Vec<Carried> = values.iter().cloned().zip(types).collect();
        let results = level(lines, inner_extents, &carried, indices, inner);
        indices.pop();
        results
    })
}

/// Emits a loop with lower bound, upper bound and step; `inner` receives its index and loop-carried values.
pub(super) fn one(
    lines: &mut Lines,
    bounds: [&str; 3],
    carried: &[Carried],
    inner: &mut OneBody,
) -> Vec<String> {
    let i = lines.name();
    let names: Vec<String> = carried.iter().map(|_| lines.name()).collect();
    let inits = names.iter().zip(carried);
    let inits: Vec<String> = inits.map(|(name, c)| format!("{name} = {}", c.0)).collect();
    let types: Vec<&str> = carried.iter().map(|c| c.1.as_str()).collect();
    let types = types.join(", ");
    let [from, to, by] = bounds;
    let results = lines.values(
        carried.len(),
        format!("scf.for {i} = {from} to {to} step {by} iter_args({}) -> ({types}) {{", inits.join(", ")),
    );
    let yielded = inner(lines, &i, &names);
    lines.line(format!("scf.yield {} : {types}\n}}", yielded.join(", ")));
    results
}

/// A constant index.
pub(super) fn index(lines: &mut Lines, value: i64) -> String {
    lines.value(format!("arith.constant {value} : index"))
}
