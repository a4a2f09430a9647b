// SPDX-License-Identifier: Apache-2.0
//! Loops of `scf` as text.

use skript_passes::ir::splice::Lines;

/// What a loop carries: a value's name and type.
pub(crate) type Carried = (String, String);

/// Writes what loops do, from their indices and what they carry; gives what is carried on.
pub(super) type Body<'b> = dyn FnMut(&mut Lines, &[String], &[String]) -> Vec<String> + 'b;

/// As [`Body`], for one loop.
pub(crate) type OneBody<'b> = dyn FnMut(&mut Lines, &str, &[String]) -> Vec<String> + 'b;

/// One loop per extent, the last innermost; `inner` writes the body and gives what is carried on. Gives the names of the
/// final values.
pub(crate) fn nest(
    lines: &mut Lines,
    extents: &[i64],
    carried: &[Carried],
    inner: &mut Body,
) -> Vec<String> {
    level(lines, extents, carried, &mut Vec::new(), inner)
}

fn level(
    lines: &mut Lines,
    extents: &[i64],
    carried: &[Carried],
    indices: &mut Vec<String>,
    inner: &mut Body,
) -> Vec<String> {
    let Some((extent, rest)) = extents.split_first() else {
        let names: Vec<String> = carried.iter().map(|c| c.0.clone()).collect();
        return inner(lines, indices, &names);
    };
    let start = index(lines, 0);
    let end = index(lines, *extent);
    let step = index(lines, 1);
    one(
        lines,
        [&start, &end, &step],
        carried,
        &mut |lines, i, values| {
            indices.push(i.to_owned());
            let types = carried.iter().map(|c| c.1.clone());
            let again: Vec<Carried> = values.iter().cloned().zip(types).collect();
            let made = level(lines, rest, &again, indices, inner);
            indices.pop();
            made
        },
    )
}

/// A loop from, to, by; `inner` is given its index and what it carries.
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
    let made = lines.values(
        carried.len(),
        format!(
            "scf.for {i} = {from} to {to} step {by} iter_args({}) -> ({types}) {{",
            inits.join(", ")
        ),
    );
    let yielded = inner(lines, &i, &names);
    lines.line(format!("scf.yield {} : {types}\n}}", yielded.join(", ")));
    made
}

/// A constant index.
pub(super) fn index(lines: &mut Lines, value: i64) -> String {
    lines.value(format!("arith.constant {value} : index"))
}
