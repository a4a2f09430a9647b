// SPDX-License-Identifier: Apache-2.0
//! How often n-grams of a vocabulary occur.

use skript_tensor::ElementType;

use super::movement::reshaped;
use super::{Operator, operator};
use crate::call::{Call, fixed};
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled};
use crate::value::{Item, Value};

pub const OPERATORS: &[Operator] =
    &[operator("TfIdfVectorizer", "`onnx.ngrams`, `linalg.matmul`", vectorize)];

/// Elements of the matrix from n-grams to columns, and invocations for all lengths and distances, at most.
const MOST_ELEMENTS: usize = 1 << 22;
const MOST_CALLS: i64 = 256;

/// N-grams of one length, which are counted, and the column of each.
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
    let width = width.ok_or("the columns do not fit")?;
    let (rows, single) = match x.rank() {
        1 => (reshaped(c, &x, vec![Extent::from(1), x.extent(0)]), true),
        2 => (x.clone(), false),
        _ => return Err("the input has neither one nor two dimensions".into()),
    };
    let long = fixed("the number of items", &rows.extent(1))?;
    let weights = c.floats("weights");
    let mode = c.string("mode", "");
    let kind = ElementType::F32;
    let skips = c.int("max_skip_count", 0);
    let mut total: Option<Value> = None;
    for of in &all {
        let count = of.columns.len();
        if count.checked_mul(width).is_none_or(|n| n > MOST_ELEMENTS) || !(0..MOST_CALLS).contains(&skips) {
            return Err("a vocabulary of this size is not supported".into());
        }
        let extent = |n: usize| i64::try_from(n).map(Extent::from).unwrap_or_default();
        let items = of.items.iter().map(|i| Item::Int(Extent::from(*i))).collect();
        let pool = c.known(ElementType::I64, vec![extent(count), extent(of.length)], items);
        let mut found: Option<Value> = None;
        // A single item has no distances.
        let steps = if of.length == 1 { 1 } else { skips + 1 };
        let between = i64::try_from(of.length).unwrap_or(i64::MAX).saturating_sub(1);
        for step in 1..=steps {
            let positions = long.saturating_sub(step.saturating_mul(between));
            if positions < 1 {
                break;
            }
            let own = vec![rows.extent(0), extent(count)];
            let mut each = own.clone();
            each.push(Extent::from(positions));
            let types = vec![(kind, own), (ElementType::Bool, each)];
            let attributes = [("step", step.to_string())];
            let arguments = [(&rows).into(), (&pool).into()];
            let counts = c.calls("onnx.ngrams", &attributes, &arguments, types);
            let [counts, _] = counts.as_slice() else {
                return Err("there are not two results".into());
            };
            found = Some(match found {
                Some(sum) => c.binary("math.add", &sum, counts)?,
                None => counts.clone(),
            });
        }
        let Some(mut found) = found else { continue };
        if mode == "IDF" {
            found = c.with_number("math.min", &found, 1.0);
        }
        let to_columns = columns_of(of, &columns, width, weights.as_deref().filter(|_| mode != "TF"))?;
        let shape = vec![extent(count), extent(width)];
        let matrix = c.known(kind, shape, to_columns);
        let arguments = [(&found).into(), (&matrix).into()];
        let part = c.call("linalg.matmul", &[], &arguments, (kind, vec![rows.extent(0), extent(width)]));
        total = Some(match total {
            Some(sum) => c.binary("math.add", &sum, &part)?,
            None => part,
        });
    }
    let shape = vec![rows.extent(0), i64::try_from(width).map(Extent::from).unwrap_or_default()];
    let y = match total {
        Some(total) => total,
        None => {
            let attributes = [("shape", crate::literals::extent_list(&shape)), ("value", "0.0".to_owned())];
            c.call("onnx.fill", &attributes, &[], (kind, shape.clone()))
        }
    };
    let y = if single { reshaped(c, &y, shape.get(1..).unwrap_or_default().to_vec()) } else { y };
    c.set(0, y);
    Ok(())
}

/// The n-grams of the lengths that count.
fn grams(c: &Call, columns: &[i64]) -> Ruled<Vec<Grams>> {
    let pool = c.ints("pool_int64s").unwrap_or_default();
    let starts = c.ints("ngram_counts").unwrap_or_default();
    let lengths = c.int("min_gram_length", 1)..=c.int("max_gram_length", 1);
    let mut columns = columns.iter().copied();
    let mut found = Vec::new();
    for (at, start) in starts.iter().enumerate() {
        let length = at + 1;
        let end = starts.get(length).copied().unwrap_or(i64::try_from(pool.len()).unwrap_or(0));
        let place = usize::try_from(*start).ok().zip(usize::try_from(end).ok());
        let items = place.and_then(|(start, end)| pool.get(start..end));
        let items = items.ok_or("`ngram_counts` does not fit the pool")?.to_vec();
        if items.len() % length != 0 {
            return Err(Reason(format!("the pool has a part of an n-gram of length {length}")));
        }
        let own: Vec<i64> = columns.by_ref().take(items.len() / length).collect();
        if own.len() != items.len() / length || own.iter().any(|column| *column < 0) {
            return Err("`ngram_indexes` does not fit the pool".into());
        }
        let counts = i64::try_from(length).is_ok_and(|n| lengths.contains(&n));
        if counts && !items.is_empty() {
            found.push(Grams { length, items, columns: own });
        }
    }
    Ok(found)
}

/// The matrix that adds the count of each n-gram to its column, with its weight.
fn columns_of(of: &Grams, all: &[i64], width: usize, weights: Option<&[f32]>) -> Ruled<Vec<Item>> {
    let mut items = vec![Item::Real(0.0); of.columns.len() * width];
    for (row, column) in of.columns.iter().enumerate() {
        let weight = match weights {
            None => 1.0,
            Some(weights) => {
                let at = all.iter().position(|known| known == column);
                let weight = at.and_then(|at| weights.get(at));
                f64::from(*weight.ok_or("`weights` does not fit `ngram_indexes`")?)
            }
        };
        let place = usize::try_from(*column).ok().and_then(|c| items.get_mut(row * width + c));
        *place.ok_or("the columns do not fit")? = Item::Real(weight);
    }
    Ok(items)
}
