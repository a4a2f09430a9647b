// SPDX-License-Identifier: Apache-2.0
//! Counts the n-grams of a vocabulary.

use skript_tensor::ElementType;

use super::movement::reshaped;
use super::{Operator, operator};
use crate::call::{Call, fixed};
use crate::extent::Extent;
use crate::literals::extent_list;
use crate::refusal::{Reason, Ruled};
use crate::value::{Item, Value, signed_length};

pub const OPERATORS: &[Operator] =
    &[operator("TfIdfVectorizer", "`onnx.ngrams`, `linalg.matmul`", vectorize)];

/// Maximum number of elements of the matrix from n-grams to columns.
const MAX_ELEMENTS: usize = 1 << 22;
/// Maximum number of invocations for all distances.
const MAX_CALLS: i64 = 256;
/// The type of counts.
const COUNTS: ElementType = ElementType::F32;

/// The n-grams of one length, and their columns in the result.
struct Grams {
    length: usize,
    items: Vec<i64>,
    columns: Vec<i64>,
}

fn vectorize(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    if c.has("pool_strings") {
        return Err("strings are not supported".into());
    }
    let columns = c.ints("ngram_indexes").unwrap_or_default();
    let all = grams(c, &columns)?;
    let width = columns.iter().max().map_or(Some(0), |last| last.checked_add(1));
    let width = width.and_then(|w| usize::try_from(w).ok());
    let width = width.ok_or("a column of `ngram_indexes` is out of range")?;
    let (rows, single) = match x.rank() {
        1 => (reshaped(c, &x, vec![Extent::from(1), x.extent(0)]), true),
        2 => (x.clone(), false),
        _ => return Err("the input must have rank 1 or 2".into()),
    };
    let long = fixed("the number of items", &rows.extent(1))?;
    let weights = c.floats("weights");
    let mode = c.string("mode", "");
    let shape = vec![rows.extent(0), Extent::from(signed_length(width))];
    let skips = c.int("max_skip_count", 0);
    let mut total: Option<Value> = None;
    for grams in &all {
        let count = grams.columns.len();
        if count.checked_mul(width).is_none_or(|n| n > MAX_ELEMENTS) || !(0..MAX_CALLS).contains(&skips) {
            return Err("a vocabulary of this size is not supported".into());
        }
        let Some(mut counts) = counted(c, grams, &rows, long, skips)? else { continue };
        if mode == "IDF" {
            counts = c.with_number("math.min", &counts, 1.0);
        }
        let to_columns = to_columns(grams, &columns, width, weights.as_deref().filter(|_| mode != "TF"))?;
        let extents = [signed_length(count), signed_length(width)].map(Extent::from);
        let matrix = c.known(COUNTS, extents.to_vec(), to_columns);
        let arguments = [(&counts).into(), (&matrix).into()];
        let part = c.call("linalg.matmul", &[], &arguments, (COUNTS, shape.clone()));
        total = Some(match total {
            Some(sum) => c.binary("math.add", &sum, &part)?,
            None => part,
        });
    }
    let y = match total {
        Some(total) => total,
        None => {
            let attributes = [("shape", extent_list(&shape)), ("value", "0.0".to_owned())];
            c.call("onnx.fill", &attributes, &[], (COUNTS, shape.clone()))
        }
    };
    let y = if single { reshaped(c, &y, shape.into_iter().skip(1).collect()) } else { y };
    c.set(0, y);
    Ok(())
}

/// Counts the n-grams of one length in each row; `None` if the rows are too short to contain any.
fn counted(c: &mut Call, grams: &Grams, rows: &Value, long: i64, skips: i64) -> Ruled<Option<Value>> {
    let (count, length) = (signed_length(grams.columns.len()), signed_length(grams.length));
    let items = grams.items.iter().map(|item| Item::Int(Extent::from(*item))).collect();
    let pool = c.known(ElementType::I64, vec![Extent::from(count), Extent::from(length)], items);
    let mut total: Option<Value> = None;
    // Skips have no effect on single items.
    let steps = if length == 1 { 1 } else { skips + 1 };
    for step in 1..=steps {
        let positions = long.saturating_sub(step.saturating_mul(length - 1));
        if positions < 1 {
            break;
        }
        let shape = vec![rows.extent(0), Extent::from(count)];
        let each = [shape.clone(), vec![Extent::from(positions)]].concat();
        let types = vec![(COUNTS, shape), (ElementType::Bool, each)];
        let arguments = [rows.into(), (&pool).into()];
        let results = c.calls("onnx.ngrams", &[("step", step.to_string())], &arguments, types);
        let [counts, _] = results.as_slice() else {
            return Err("internal compiler error: ngrams does not have two results".into());
        };
        total = Some(match total {
            Some(sum) => c.binary("math.add", &sum, counts)?,
            None => counts.clone(),
        });
    }
    Ok(total)
}

/// The n-grams whose length is requested.
fn grams(c: &Call, columns: &[i64]) -> Ruled<Vec<Grams>> {
    let pool = c.ints("pool_int64s").unwrap_or_default();
    let starts = c.ints("ngram_counts").unwrap_or_default();
    let lengths = c.int("min_gram_length", 1)..=c.int("max_gram_length", 1);
    let mut columns = columns.iter().copied();
    let ends = starts.iter().copied().skip(1).chain([signed_length(pool.len())]);
    let mut all = Vec::new();
    for (at, (start, end)) in starts.iter().zip(ends).enumerate() {
        let length = at + 1;
        let place = usize::try_from(*start).ok().zip(usize::try_from(end).ok());
        let items = place.and_then(|(start, end)| pool.get(start..end));
        let items = items.ok_or("`ngram_counts` does not fit the pool")?.to_vec();
        if items.len() % length != 0 {
            return Err(Reason(format!("the pool ends within an n-gram of length {length}")));
        }
        let gram_columns: Vec<i64> = columns.by_ref().take(items.len() / length).collect();
        if gram_columns.len() != items.len() / length || gram_columns.iter().any(|column| *column < 0) {
            return Err("`ngram_indexes` does not fit the pool".into());
        }
        let counts = i64::try_from(length).is_ok_and(|n| lengths.contains(&n));
        if counts && !items.is_empty() {
            all.push(Grams { length, items, columns: gram_columns });
        }
    }
    Ok(all)
}

/// The matrix that adds the weighted count of each n-gram to its column.
fn to_columns(grams: &Grams, all: &[i64], width: usize, weights: Option<&[f32]>) -> Ruled<Vec<Item>> {
    let mut items = vec![Item::Real(0.0); grams.columns.len() * width];
    for (row, column) in grams.columns.iter().enumerate() {
        let weight = match weights {
            None => 1.0,
            Some(weights) => {
                let at = all.iter().position(|known| known == column);
                let weight = at.and_then(|at| weights.get(at));
                f64::from(*weight.ok_or("`weights` does not fit `ngram_indexes`")?)
            }
        };
        let place = usize::try_from(*column).ok().and_then(|c| items.get_mut(row * width + c));
        *place.ok_or("a column of `ngram_indexes` is out of range")? = Item::Real(weight);
    }
    Ok(items)
}
