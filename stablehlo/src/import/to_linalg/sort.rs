// SPDX-License-Identifier: Apache-2.0
//! Sorting: a stable bottom-up merge sort of positions, for each line along the dimension.

use super::generic::{Port, dims, empty, generic};
use super::nest::{index, nest, one};
use super::operation::{Found, Tensor};
use super::payload;
use crate::import::element::Element;
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

type Values<'c, 'a> = Result<Vec<Value<'c, 'a>>, PassError>;

/// Whether the second of two positions along the line goes first, as an `i1`: from the names of the elements of all
/// inputs at the right and at the left position.
type Precedes<'p> = dyn Fn(&mut Lines, &[String], &[String]) -> String + 'p;

pub(super) fn sort<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let tensor = found.result()?;
    let rank = tensor.rank() as i64;
    let dimension = found.i64("dimension").unwrap_or(-1);
    let dimension = if dimension < 0 { dimension + rank } else { dimension };
    let dimension = usize::try_from(dimension).map_err(|e| e.to_string())?;
    let inputs: Vec<(String, Tensor)> = names(&found.operands);
    let elements: Vec<Element> = found.operands.iter().flat_map(|t| [t.element; 2]).collect();
    let mut lines = Lines::default();
    let made = sorted(&mut lines, &inputs, dimension, &|lines, right, left| {
        let pairs = right.iter().zip(left);
        let pairs: Vec<String> = pairs.flat_map(|(r, l)| [r.clone(), l.clone()]).collect();
        payload::placeholder(lines, 0, &pairs, &elements, &[Element::Pred]).concat()
    });
    found.with_bodies(&lines, &made)
}

fn names(tensors: &[Tensor]) -> Vec<(String, Tensor)> {
    tensors.iter().enumerate().map(|(n, t)| (format!("%{n}"), t.clone())).collect()
}

/// The `k` largest elements along the last dimension, and their positions; equal elements keep their order.
pub(crate) fn top_k<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (input, result) = (found.operand(0)?, found.result()?);
    let positions = found.results.get(1).ok_or("lacks its second result")?;
    let last = input.rank().checked_sub(1).ok_or("has no dimension")?;
    let whole = Tensor { extents: input.extents.clone(), element: positions.element };
    let mut lines = Lines::default();
    let out = empty(&mut lines, &whole);
    let e = whole.element.text();
    let body = format!(
        "%n = linalg.index {last} : index\n%w = arith.index_cast %n : index to i64\n\
         %r = stablehlo.convert %w : (i64) -> {e}\nlinalg.yield %r : {e}"
    );
    let out = Port::new(&out, &whole, dims(0..whole.rank()));
    let numbers = generic(&mut lines, whole.rank(), 0, &[], &[out], &body);
    let inputs = [("%0".to_owned(), input.clone()), (numbers.concat(), whole.clone())];
    let order = match input.element {
        Element::Float(_) => ", TOTALORDER",
        _ => "",
    };
    let t = input.element.text();
    let made = sorted(&mut lines, &inputs, last, &|lines, right, left| {
        // Compares the elements, not their positions.
        let first = |values: &[String]| values.first().cloned().unwrap_or_default();
        let (right, left) = (first(right), first(left));
        lines.value(format!("stablehlo.compare GT, {right}, {left}{order} : ({t}, {t}) -> i1"))
    });
    let zeros = vec!["0"; input.rank()].join(", ");
    let ones = vec!["1"; input.rank()].join(", ");
    let extents: Vec<String> = result.extents.iter().map(i64::to_string).collect();
    let mut taken = Vec::new();
    for (name, (from, to)) in made.iter().zip([(input, result), (&whole, positions)]) {
        taken.push(lines.value(format!(
            "tensor.extract_slice {name}[{zeros}][{}][{ones}] : {} to {}",
            extents.join(", "),
            from.text(),
            to.text()
        )));
    }
    Ok(found.splice(&lines, &taken)?.values)
}

/// All inputs, sorted along `dimension` by `precedes`.
fn sorted(
    lines: &mut Lines,
    inputs: &[(String, Tensor)],
    dimension: usize,
    precedes: &Precedes,
) -> Vec<String> {
    let extents = inputs.first().map_or(&[][..], |i| &i.1.extents);
    let count = extents.get(dimension).copied().unwrap_or(1);
    let positions = format!("tensor<{count}xindex>");
    let start = lines.value(format!("tensor.empty() : {positions}"));
    let start = lines.value(format!(
        "linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]}} \
         outs({start} : {positions}) {{\n^bb0(%o: index):\n%n = linalg.index 0 : index\n\
         linalg.yield %n : index\n}} -> {positions}"
    ));
    let mut others = extents.to_vec();
    if let Some(own) = others.get_mut(dimension) {
        *own = 1;
    }
    let mut carried = Vec::new();
    for (_, tensor) in inputs {
        // Not an empty tensor, because bufferization may reuse a loop-carried value for it while the input is still
        // read.
        let space = lines.value(format!("bufferization.alloc_tensor() : {}", tensor.text()));
        carried.push((space, tensor.text()));
    }
    nest(lines, &others, &carried, &mut |lines, at, outputs| {
        let element = |lines: &mut Lines, input: &(String, Tensor), along: &str| {
            let mut address = at.to_vec();
            if let Some(own) = address.get_mut(dimension) {
                *own = along.to_owned();
            }
            let address = address.join(", ");
            lines.value(format!("tensor.extract {}[{address}] : {}", input.0, input.1.text()))
        };
        let order = merged(lines, &start, count, &|lines, right, left| {
            let all = |lines: &mut Lines, along: &str| -> Vec<String> {
                inputs.iter().map(|i| element(lines, i, along)).collect()
            };
            let (right, left) = (all(lines, right), all(lines, left));
            precedes(lines, &right, &left)
        });
        let types = inputs.iter().map(|i| i.1.text());
        let carried: Vec<_> = outputs.iter().cloned().zip(types).collect();
        nest(lines, &[count], &carried, &mut |lines, k, outputs| {
            let k = k.concat();
            let from = lines.value(format!("tensor.extract {order}[{k}] : {positions}"));
            let mut written = Vec::new();
            for (input, output) in inputs.iter().zip(outputs) {
                let value = element(lines, input, &from);
                let mut address = at.to_vec();
                if let Some(own) = address.get_mut(dimension) {
                    own.clone_from(&k);
                }
                written.push(lines.value(format!(
                    "tensor.insert {value} into {output}[{}] : {}",
                    address.join(", "),
                    input.1.text()
                )));
            }
            written
        })
    })
}

/// The sorted positions: runs of 1, 2, 4, … are merged. `goes_first` compares a right and a left position.
fn merged(
    lines: &mut Lines,
    start: &str,
    count: i64,
    goes_first: &dyn Fn(&mut Lines, &str, &str) -> String,
) -> String {
    let positions = format!("tensor<{count}xindex>");
    let passes = i64::from(count.max(1).unsigned_abs().next_power_of_two().trailing_zeros());
    let zero = index(lines, 0);
    let step = index(lines, 1);
    let end = index(lines, count);
    let most = index(lines, count - 1);
    let space = lines.value(format!("tensor.empty() : {positions}"));
    let carried = [(start.to_owned(), positions.clone()), (space, positions.clone())];
    let made = nest(lines, &[passes], &carried, &mut |lines, pass, values| {
        let [source, target] = values else {
            return Vec::new();
        };
        let (source, target) = (source.clone(), target.clone());
        let width = lines.value(format!("arith.shli {step}, {} : index", pass.concat()));
        let both = lines.value(format!("arith.addi {width}, {width} : index"));
        let carried = [(target, positions.clone())];
        let runs = one(lines, [&zero, &end, &both], &carried, &mut |lines, low, target| {
            let middle = lines.value(format!("arith.addi {low}, {width} : index"));
            let middle = lines.value(format!("arith.minui {middle}, {end} : index"));
            let high = lines.value(format!("arith.addi {low}, {both} : index"));
            let high = lines.value(format!("arith.minui {high}, {end} : index"));
            let carried = [
                (low.to_owned(), "index".to_owned()),
                (middle.clone(), "index".to_owned()),
                (target.concat(), positions.clone()),
            ];
            let made = one(lines, [low, &high, &step], &carried, &mut |lines, k, values| {
                let [i, j, target] = values else {
                    return Vec::new();
                };
                let position = |lines: &mut Lines, n: &str| {
                    let n = lines.value(format!("arith.minui {n}, {most} : index"));
                    lines.value(format!("tensor.extract {source}[{n}] : {positions}"))
                };
                let (left, right) = (position(lines, i), position(lines, j));
                let first = goes_first(lines, &right, &left);
                let done = lines.value(format!("arith.cmpi uge, {i}, {middle} : index"));
                let there = lines.value(format!("arith.cmpi ult, {j}, {high} : index"));
                let take = lines.value(format!("arith.ori {done}, {first} : i1"));
                let take = lines.value(format!("arith.andi {there}, {take} : i1"));
                let value = lines.value(format!("arith.select {take}, {right}, {left} : index"));
                let target = lines.value(format!("tensor.insert {value} into {target}[{k}] : {positions}"));
                let more =
                    |lines: &mut Lines, n: &str| lines.value(format!("arith.addi {n}, {step} : index"));
                let (next_i, next_j) = (more(lines, i), more(lines, j));
                let i = lines.value(format!("arith.select {take}, {i}, {next_i} : index"));
                let j = lines.value(format!("arith.select {take}, {next_j}, {j} : index"));
                vec![i, j, target]
            });
            made.get(2).cloned().into_iter().collect()
        });
        let runs = runs.concat();
        let carried = [(source, positions.clone())];
        let copied = nest(lines, &[count], &carried, &mut |lines, k, source| {
            let (k, source) = (k.concat(), source.concat());
            let value = lines.value(format!("tensor.extract {runs}[{k}] : {positions}"));
            vec![lines.value(format!("tensor.insert {value} into {source}[{k}] : {positions}"))]
        });
        vec![copied.concat(), runs]
    });
    made.first().cloned().unwrap_or_default()
}
