// SPDX-License-Identifier: Apache-2.0
//! Converts sorts to a stable bottom-up merge sort of positions, for each line along the dimension.
use super::nest::{index, nest, one};
use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use super::payload;
use crate::import::element::Element;
use skript_passes::ir::splice::Lines;

/// Minimum number of positions that are sorted at once when a few are selected.
const MIN_CANDIDATES: i64 = 32;

/// Number of elements that are tested for candidates with one branch.
const TESTED: i64 = 16;

/// Emits an `i1` that is true if the right of two positions along the line sorts before the left one. The arguments are
/// the names of the elements of all inputs at the right position and at the left position.
type Precedes<'p> = dyn Fn(&mut Lines, &[String], &[String]) -> String + 'p;

pub(super) fn sort<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let tensor = source.result()?;
    let rank = tensor.rank() as i64;
    let dimension = source.i64("dimension").unwrap_or(-1);
    let dimension = if dimension < 0 { dimension + rank } else { dimension };
    let dimension = usize::try_from(dimension).map_err(|e| e.to_string())?;
    let inputs: Vec<(String, Tensor)> = names(&source.operands);
    let elements: Vec<Element> = source.operands.iter().flat_map(|t| [t.element; 2]).collect();
    let mut lines = Lines::default();
    let made = sorted(&mut lines, &inputs, dimension, &|lines, right, left| {
        let pairs = right.iter().zip(left);
        let pairs: Vec<String> = pairs.flat_map(|(r, l)| [r.clone(), l.clone()]).collect();
        payload::placeholder(lines, 0, &pairs, &elements, &[Element::Pred]).concat()
    });
    source.with_bodies(&lines, &made)
}

fn names(tensors: &[Tensor]) -> Vec<(String, Tensor)> {
    tensors.iter().enumerate().map(|(n, t)| (format!("%{n}"), t.clone())).collect()
}

/// Converts `top_k`: the `k` largest elements along the last dimension, and their positions; equal elements keep their
/// order.
pub(crate) fn top_k<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (input, result) = (source.operand(0)?, source.result()?);
    let numbers = source.results.get(1).ok_or("lacks its second result")?;
    let (Some((count, others)), Some(kept)) = (input.extents.split_last(), result.extents.last()) else {
        return Err("has no dimension".into());
    };
    let order = match input.element {
        Element::Float(_) => ", TOTALORDER",
        _ => "",
    };
    let (t, n) = (input.element.text(), numbers.element.text());
    let mut lines = Lines::default();
    let carried = [result, numbers].map(|tensor| {
        let space = lines.value(format!("bufferization.alloc_tensor() : {}", tensor.text()));
        (space, tensor.text())
    });
    let made = nest(&mut lines, others, &carried, &mut |lines, at, outputs| {
        let address = |along: &str| [at, &[along.to_owned()]].concat().join(", ");
        let row = Row {
            count: *count,
            kept: *kept,
            element: &t,
            at: &|lines, k| lines.value(format!("tensor.extract %0[{}] : {}", address(k), input.text())),
            precedes: &|lines, right, left| {
                lines.value(format!("stablehlo.compare GT, {right}, {left}{order} : ({t}, {t}) -> i1"))
            },
        };
        let (order, positions) = row.selected(lines);
        let types = [result, numbers].map(Tensor::text);
        let carried: Vec<_> = outputs.iter().cloned().zip(types.clone()).collect();
        nest(lines, &[*kept], &carried, &mut |lines, k, outputs| {
            let to = address(&k.concat());
            let from = lines.value(format!("tensor.extract {order}[{}] : {positions}", k.concat()));
            let value = (row.at)(lines, &from);
            let number = lines.value(format!("arith.index_cast {from} : index to i64"));
            let number = lines.value(format!("stablehlo.convert {number} : (i64) -> {n}"));
            let written = [value, number].into_iter().zip(outputs).zip(&types);
            written
                .map(|((value, output), r#type)| {
                    lines.value(format!("tensor.insert {value} into {output}[{to}] : {type}"))
                })
                .collect()
        })
    });
    source.with_bodies(&lines, &made)
}

/// A line of elements, of which the first ones in sorted order are selected.
struct Row<'r> {
    count: i64,
    kept: i64,
    /// The element type.
    element: &'r str,
    /// Emits the element at a position.
    at: &'r dyn Fn(&mut Lines, &str) -> String,
    /// Emits an `i1` that is true if the right of two elements sorts before the left one.
    precedes: &'r dyn Fn(&mut Lines, &str, &str) -> String,
}

impl Row<'_> {
    /// Emits a tensor of positions whose first `kept` positions are in sorted order; returns its name and its type.
    ///
    /// Candidates are collected in a buffer of at least twice as many positions as are kept. If it is full, it is sorted, and the
    /// first ones remain. A later position is a candidate if its element precedes the last of these.
    fn selected(&self, lines: &mut Lines) -> (String, String) {
        let size = (2 * self.kept).max(MIN_CANDIDATES);
        // A short line is sorted as a whole.
        let size = if 2 * size > self.count { self.count } else { size + (self.count - size) % TESTED };
        let positions = format!("tensor<{size}xindex>");
        let start = ascending(lines, size);
        if size == self.count {
            return (self.sorted(lines, &start, size), positions);
        }
        let [first, step, tested] = [0, 1, TESTED].map(|n| index(lines, n));
        let [end, full, kept, last] = [self.count, size, self.kept, self.kept - 1].map(|n| index(lines, n));
        let element = self.element;
        let limit = (self.at)(lines, &first);
        let carried =
            [(start, positions.clone()), (full.clone(), "index".to_owned()), (limit, element.to_owned())];
        let types = format!("{positions}, index, {element}");
        // Emits a branch for a candidate, or for a full buffer.
        let branch = |lines: &mut Lines, precedes: String, used: &str| {
            let is_full = lines.value(format!("arith.cmpi eq, {used}, {full} : index"));
            let is_needed = lines.value(format!("arith.ori {precedes}, {is_full} : i1"));
            (lines.values(3, format!("scf.if {is_needed} -> ({types}) {{")), is_full)
        };
        let otherwise = |lines: &mut Lines, then: [&String; 3], values: &[String]| {
            let yielded = then.map(String::as_str).join(", ");
            lines.line(format!("scf.yield {yielded} : {types}\n}} else {{"));
            lines.line(format!("scf.yield {} : {types}\n}}", values.join(", ")));
        };
        let precedes = |lines: &mut Lines, k: &str, limit: &str| {
            let value = (self.at)(lines, k);
            (self.precedes)(lines, &value, limit)
        };
        let made = one(lines, [&full, &end, &tested], &carried, &mut |lines, start, values| {
            let mut any = precedes(lines, start, &values[2]);
            for n in 1..TESTED {
                let n = index(lines, n);
                let k = lines.value(format!("arith.addi {start}, {n} : index"));
                let one = precedes(lines, &k, &values[2]);
                any = lines.value(format!("arith.ori {any}, {one} : i1"));
            }
            let (block, _) = branch(lines, any, &values[1]);
            let end = lines.value(format!("arith.addi {start}, {tested} : index"));
            let types_of = [&positions, "index", element].map(str::to_owned);
            let carried: Vec<_> = values.iter().cloned().zip(types_of).collect();
            let made = one(lines, [start, &end, &step], &carried, &mut |lines, k, values| {
                let is_candidate = precedes(lines, k, &values[2]);
                let (next, is_full) = branch(lines, is_candidate, &values[1]);
                let reduced = lines.values(3, format!("scf.if {is_full} -> ({types}) {{"));
                let sorted = self.sorted(lines, &values[0], size);
                let from = lines.value(format!("tensor.extract {sorted}[{last}] : {positions}"));
                let limit = (self.at)(lines, &from);
                otherwise(lines, [&sorted, &kept, &limit], values);
                let [order, used, limit] = [&reduced[0], &reduced[1], &reduced[2]];
                let more = lines.value(format!("tensor.insert {k} into {order}[{used}] : {positions}"));
                let count = lines.value(format!("arith.addi {used}, {step} : index"));
                otherwise(lines, [&more, &count, limit], values);
                next
            });
            otherwise(lines, [&made[0], &made[1], &made[2]], values);
            block
        });
        // Positions that remain from an earlier sort follow the kept ones in this sort, too.
        (self.sorted(lines, &made[0], size), positions)
    }

    /// Emits sorted positions.
    fn sorted(&self, lines: &mut Lines, positions: &str, count: i64) -> String {
        merged(lines, positions, count, &|lines, right, left| {
            let (right, left) = ((self.at)(lines, right), (self.at)(lines, left));
            (self.precedes)(lines, &right, &left)
        })
    }
}

/// Emits all inputs, sorted along `dimension` by `precedes`.
fn sorted(
    lines: &mut Lines,
    inputs: &[(String, Tensor)],
    dimension: usize,
    precedes: &Precedes,
) -> Vec<String> {
    let extents = &inputs[0].1.extents;
    let count = extents[dimension];
    let positions = format!("tensor<{count}xindex>");
    let start = ascending(lines, count);
    let mut others = extents.clone();
    others[dimension] = 1;
    let mut carried = Vec::new();
    for (_, tensor) in inputs {
        // Not `tensor.empty`, because bufferization may replace it by a loop-carried value while the input is still
        // read.
        let space = lines.value(format!("bufferization.alloc_tensor() : {}", tensor.text()));
        carried.push((space, tensor.text()));
    }
    nest(lines, &others, &carried, &mut |lines, at, outputs| {
        let element = |lines: &mut Lines, input: &(String, Tensor), along: &str| {
            let mut address = at.to_vec();
            address[dimension] = along.to_owned();
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
                address[dimension].clone_from(&k);
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

/// Emits the positions 0, 1, …
fn ascending(lines: &mut Lines, count: i64) -> String {
    let positions = format!("tensor<{count}xindex>");
    let space = lines.value(format!("tensor.empty() : {positions}"));
    lines.value(format!(
        "linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]}} \
         outs({space} : {positions}) {{\n^bb0(%o: index):\n%n = linalg.index 0 : index\n\
         linalg.yield %n : index\n}} -> {positions}"
    ))
}

/// Emits the sorted positions by merging runs of 1, 2, 4, … positions. `goes_first` compares a right and a left
/// position.
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
    let last = index(lines, count - 1);
    let space = lines.value(format!("tensor.empty() : {positions}"));
    let carried = [(start.to_owned(), positions.clone()), (space, positions.clone())];
    let made = nest(lines, &[passes], &carried, &mut |lines, pass, values| {
        let (source, target) = (values[0].clone(), values[1].clone());
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
                let [i, j, target] = [&values[0], &values[1], &values[2]];
                let position = |lines: &mut Lines, n: &str| {
                    let n = lines.value(format!("arith.minui {n}, {last} : index"));
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
            vec![made[2].clone()]
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
    made[0].clone()
}
