// SPDX-License-Identifier: Apache-2.0
//! The differences between the values of the weights that both models have.

use skript::{Model, Tensor};
use skript_semantics::Scalar;
use skript_tensor::TensorError;
use skript_view::{Change, Detail, Difference, short};
use std::collections::{BTreeMap, BTreeSet};

use crate::session::{Session, Stopped, Weights};

/// The values of variables by name.
type Values = BTreeMap<String, Tensor>;

/// The weights of two models whose values differ, with the element of the largest difference, and those that only one model has a
/// value for.
pub fn compare(mut models: [(&Model, &mut Session); 2]) -> Result<Vec<Difference>, Stopped> {
    let mut loaded = Vec::new();
    for (model, session) in &mut models {
        let picture = model.picture();
        let weights = session.weights(Weights::from_model_folder())?;
        let values = weights.load_each(&model.requests()).into_iter().zip(&model.ir().variables);
        let mut named = Values::new();
        for (value, variable) in values {
            match value {
                Ok(value) => _ = named.insert(short(&picture, &variable.name).to_owned(), value),
                Err(TensorError::Missing { .. }) => {}
                Err(error) => return Err(skript::Error::Arrays(vec![error]).into()),
            }
        }
        loaded.push(named);
    }
    let [first, second] = loaded.as_slice() else { return Ok(Vec::new()) };
    let mut differences = missing(first, second, models.map(|(model, _)| model));
    for (name, one) in first {
        let Some(other) = second.get(name) else { continue };
        let is_same = one.element() == other.element() && one.bytes() == other.bytes();
        if one.shape() == other.shape() && !is_same {
            differences.extend(largest(one, other).map(|detail| changed("weight", name, detail)));
        }
    }
    Ok(differences)
}

fn changed(item: &'static str, name: &str, detail: Detail) -> Difference {
    let (change, locations) = (Change::Changed, [None, None]);
    Difference { change, item, name: name.to_owned(), locations, details: vec![detail] }
}

/// The variables of both models that only one model has a value for.
fn missing(first: &Values, second: &Values, models: [&Model; 2]) -> Vec<Difference> {
    let [declared, others] = models.map(|model| {
        let picture = model.picture();
        let names = model.ir().variables.iter().map(|v| short(&picture, &v.name).to_owned());
        names.collect::<BTreeSet<String>>()
    });
    let values = |has: [bool; 2]| has.map(|has| Some(if has { "given" } else { "missing" }.to_owned()));
    if first.is_empty() != second.is_empty() && !declared.is_disjoint(&others) {
        let detail =
            Detail { part: "files".to_owned(), values: values([!first.is_empty(), !second.is_empty()]) };
        return vec![changed("weights", "of all variables", detail)];
    }
    let both =
        declared.intersection(&others).map(|name| (name, [first, second].map(|v| v.contains_key(name))));
    let alone = both.filter(|(_, has)| has[0] != has[1]);
    alone
        .map(|(name, has)| changed("weight", name, Detail { part: "file".to_owned(), values: values(has) }))
        .collect()
}

/// The largest difference of two tensors of one shape; `None` if all elements are equal. Zeros of different signs, and NaNs of different
/// bits, differ if the element types are the same.
fn largest(one: &Tensor, other: &Tensor) -> Option<Detail> {
    let mut worst: Option<(usize, f64, [String; 2])> = None;
    let mut count = 0_usize;
    let has_bits = one.element() == other.element();
    let size = one.element().size();
    let bits = |tensor: &Tensor, at: usize| tensor.bytes().chunks(size).nth(at).map(<[u8]>::to_vec);
    for position in 0..one.volume() {
        let [x, y] = [one, other].map(|tensor| tensor.get(position));
        let [a, b] = [x, y].map(|value| value.map_or(f64::NAN, number));
        let is_equal = x == y || a.is_nan() && b.is_nan();
        if is_equal && !(has_bits && bits(one, position) != bits(other, position)) {
            continue;
        }
        count += 1;
        let is_bits = a.is_nan() && b.is_nan();
        let size = if is_equal {
            0.0
        } else if (a - b).is_nan() {
            f64::INFINITY
        } else {
            (a - b).abs()
        };
        if worst.as_ref().is_none_or(|(_, largest, _)| size > *largest) {
            let shown = [(one, a), (other, b)].map(|(tensor, value)| match bits(tensor, position) {
                Some(bits) if is_bits => format!("NaN (0x{})", hexadecimal(&bits)),
                _ => value.to_string(),
            });
            worst = Some((position, size, shown));
        }
    }
    let (position, size, values) = worst?;
    let at = index(position, one.shape());
    let part = format!("{count} of {} elements, at most by {size:.3e}, at {at}", one.volume());
    Some(Detail { part, values: values.map(Some) })
}

/// The bits of an element, most significant first.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

fn number(value: Scalar) -> f64 {
    match value {
        Scalar::Real(value) => value,
        #[expect(clippy::cast_precision_loss, reason = "only differences are shown")]
        Scalar::Int(value) => value as f64,
        Scalar::Bool(value) => f64::from(u8::from(value)),
    }
}

/// The index of an element.
fn index(position: usize, shape: &[u64]) -> String {
    let mut rest = position as u64;
    let mut index: Vec<String> = shape
        .iter()
        .rev()
        .map(|extent| {
            let at = rest % extent.max(&1);
            rest /= extent.max(&1);
            at.to_string()
        })
        .collect();
    index.reverse();
    format!("[{}]", index.join(", "))
}
