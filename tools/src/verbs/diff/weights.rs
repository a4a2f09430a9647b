// SPDX-License-Identifier: Apache-2.0
//! The differences between the values of the weights that both models have.

use skript::{Model, Tensor};
use skript_semantics::Scalar;
use skript_tensor::TensorError;
use skript_view::{Change, Detail, Difference, short};
use std::collections::BTreeMap;

use crate::session::{Session, Stopped, Weights};

/// The weights of two models whose values differ, with the element of the largest difference.
pub fn compare(models: [(&Model, &mut Session); 2]) -> Result<Vec<Difference>, Stopped> {
    let mut loaded = Vec::new();
    for (model, session) in models {
        let picture = model.picture();
        let weights = session.weights(Weights::from_model_folder())?;
        let values = weights.load_each(&model.requests()).into_iter().zip(&model.ir().variables);
        let mut named: BTreeMap<String, Tensor> = BTreeMap::new();
        for (value, variable) in values {
            match value {
                Ok(value) => _ = named.insert(short(&picture, &variable.name).to_owned(), value),
                // Variables without values are not compared.
                Err(TensorError::Missing { .. }) => {}
                Err(error) => return Err(skript::Error::Arrays(vec![error]).into()),
            }
        }
        loaded.push(named);
    }
    let [first, second] = loaded.as_slice() else { return Ok(Vec::new()) };
    let mut differences = Vec::new();
    for (name, one) in first {
        let Some(other) = second.get(name) else { continue };
        if one.shape() != other.shape() || one.bytes() == other.bytes() {
            continue;
        }
        if let Some(detail) = largest(one, other) {
            differences.push(Difference {
                change: Change::Changed,
                item: "weight",
                name: name.clone(),
                locations: [None, None],
                details: vec![detail],
            });
        }
    }
    Ok(differences)
}

/// The largest difference of two tensors of one shape; `None` if all elements are equal.
fn largest(one: &Tensor, other: &Tensor) -> Option<Detail> {
    let mut worst: Option<(usize, f64, f64, f64)> = None;
    let mut count = 0_usize;
    for position in 0..one.volume() {
        let [x, y] = [one, other].map(|tensor| tensor.get(position));
        let [a, b] = [x, y].map(|value| value.map_or(f64::NAN, number));
        if x == y || a.is_nan() && b.is_nan() {
            continue;
        }
        count += 1;
        let size = if (a - b).is_nan() { f64::INFINITY } else { (a - b).abs() };
        if worst.is_none_or(|(_, largest, _, _)| size > largest) {
            worst = Some((position, size, a, b));
        }
    }
    let (position, size, a, b) = worst?;
    let at = index(position, one.shape());
    Some(Detail {
        part: format!("{count} of {} elements, at most by {size:.3e}, at {at}", one.volume()),
        values: [a, b].map(|value| Some(value.to_string())),
    })
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
