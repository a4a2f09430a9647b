// SPDX-License-Identifier: Apache-2.0
//! Parses JSON texts to values of graph attributes.

use super::AttributeValue;
use serde_json::Value;

/// Parses a JSON text to an attribute value. Numbers without a point or an exponent are ints; objects are rejected.
///
/// # Errors
/// The text is not JSON, contains an object, or a number exceeds 64-bit numbers.
pub fn attribute_value(text: &str) -> Result<AttributeValue, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        format!("`{text}` is not a JSON value ({error}); strings need double quotes, quoted for the shell")
    })?;
    convert(value)
}

fn convert(value: Value) -> Result<AttributeValue, String> {
    Ok(match value {
        Value::Null => AttributeValue::Null,
        Value::Bool(b) => AttributeValue::Bool(b),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(int), _) => AttributeValue::Int(int),
            (None, Some(real)) if n.is_f64() => AttributeValue::Real(real),
            _ => return Err(format!("{n} exceeds a 64-bit number")),
        },
        Value::String(s) => AttributeValue::Str(s),
        Value::Array(items) => {
            AttributeValue::List(items.into_iter().map(convert).collect::<Result<_, _>>()?)
        }
        Value::Object(_) => return Err("an attribute cannot be a JSON object".to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        use AttributeValue::*;
        for (text, want) in [
            ("3", Int(3)),
            ("3.0", Real(3.0)),
            ("-1e3", Real(-1000.0)),
            ("[1, 2]", List(vec![Int(1), Int(2)])),
            ("\"a\"", Str("a".into())),
            ("true", Bool(true)),
            ("null", Null),
        ] {
            assert_eq!(attribute_value(text).unwrap(), want, "{text}");
        }
        for text in ["", "a", "{}", "[{}]", "18446744073709551615", "[1,"] {
            assert!(attribute_value(text).is_err(), "{text}");
        }
    }
}
