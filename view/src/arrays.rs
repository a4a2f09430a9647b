// SPDX-License-Identifier: Apache-2.0
//! Arrays as JSON, for pages: an object with name, type, shape and values.

use serde_json::{Value, json};
use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// The largest integer that a number of JavaScript represents together with all smaller ones.
const MAX_EXACT: u64 = 1 << 53;

/// Lists arrays with their names, with at most `most` values of each.
pub fn listed(names: &[String], tensors: &[Tensor], most: usize) -> Value {
    let arrays = names.iter().zip(tensors).map(|(name, tensor)| {
        let values: Vec<Value> =
            (0..tensor.volume().min(most)).map(|at| tensor.get(at).map_or(Value::Null, number)).collect();
        json!({
            "name": name,
            "type": tensor.element().to_string(),
            "shape": tensor.shape(),
            "elements": tensor.volume(),
            "values": values,
        })
    });
    arrays.collect()
}

/// A number that JSON has, and otherwise a text.
fn number(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Int(value) if value.unsigned_abs() <= MAX_EXACT => value.into(),
        Scalar::Int(value) => value.to_string().into(),
        Scalar::Real(value) if value.is_finite() => value.into(),
        Scalar::Real(value) if value.is_nan() => "NaN".into(),
        Scalar::Real(value) => if value > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        Scalar::Bool(value) => value.into(),
    }
}

/// Reads a value that [`listed`] writes; `None` for anything else.
pub fn scalar(value: &Value) -> Option<Scalar> {
    match value {
        Value::Bool(value) => Some(Scalar::Bool(*value)),
        Value::Number(number) => {
            number.as_i64().map(Scalar::Int).or_else(|| number.as_f64().map(Scalar::Real))
        }
        Value::String(text) => match text.as_str() {
            "NaN" => Some(Scalar::Real(f64::NAN)),
            "Infinity" => Some(Scalar::Real(f64::INFINITY)),
            "-Infinity" => Some(Scalar::Real(f64::NEG_INFINITY)),
            "-0" => Some(Scalar::Real(-0.0)),
            digits => digits.parse().ok().map(Scalar::Int),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_form_in_json_are_texts() {
        let reals =
            [1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| number(Scalar::Real(value)));
        assert_eq!(json!(reals), json!([1.5, "NaN", "Infinity", "-Infinity"]));
        let ints = [-3, 1 << 53, (1 << 53) + 1, i64::MIN].map(|value| number(Scalar::Int(value)));
        assert_eq!(
            json!(ints),
            json!([-3, 9007199254740992_i64, "9007199254740993", "-9223372036854775808"])
        );
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        let zero = scalar(&json!("-0"));
        assert!(matches!(zero, Some(Scalar::Real(zero)) if zero == 0.0 && zero.is_sign_negative()));
        for value in [1.5, f64::INFINITY, f64::NEG_INFINITY, -0.25] {
            assert_eq!(scalar(&number(Scalar::Real(value))), Some(Scalar::Real(value)));
        }
        assert!(matches!(scalar(&json!("NaN")), Some(Scalar::Real(value)) if value.is_nan()));
        for value in [-3, i64::MIN, i64::MAX] {
            assert_eq!(scalar(&number(Scalar::Int(value))), Some(Scalar::Int(value)));
        }
        assert_eq!(scalar(&json!(true)), Some(Scalar::Bool(true)));
        for wrong in [json!(null), json!([1]), json!("one"), json!({})] {
            assert_eq!(scalar(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn long_arrays_are_cut() {
        let long = Tensor::from_i64(&[70_000], &vec![1; 70_000]).unwrap();
        let listed = listed(&["x".to_owned()], &[long], 10);
        assert_eq!(listed[0]["elements"], 70_000);
        assert_eq!(listed[0]["values"], json!(vec![1; 10]));
    }
}
