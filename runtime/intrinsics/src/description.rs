// SPDX-License-Identifier: Apache-2.0
//! The description of one invocation of an intrinsic, as bytes in an object file.
//!
//! ```text
//! u8 version (2), operator: string, u8 random, attributes: list of (name: string, value),
//! inputs: list of arrays, outputs: list of arrays, dynamic_outputs: list of u32, given: list of strings
//! ```
//! Integers are little endian, a string is a `u32` length and UTF-8, a list is a `u32` count and its items. An array is an
//! element type by name (a string) and a `u32` rank. A value is a tag and its contents: 0 null, 1 bool (u8), 2 int (i64),
//! 3 real (f64), 4 str (string), 5 list of values.

use crate::Value;
use skript_tensor::ElementType;

const VERSION: u8 = 2;
/// Maximum nesting of list attributes.
const MAX_DEPTH: usize = 16;

/// Element type and rank of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// The element type.
    pub element: ElementType,
    /// The number of dimensions.
    pub rank: usize,
}

/// The static description of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The operator's full name, `nn.resize`.
    pub operator: String,
    /// Whether it draws from the stream of random numbers.
    pub random: bool,
    /// Names and values, in the order of the declaration.
    pub attributes: Vec<(String, Value)>,
    /// The inputs, in the order of the declaration.
    pub inputs: Vec<Array>,
    /// Outputs, then the arrays that receive extents.
    pub outputs: Vec<Array>,
    /// The positions of outputs whose extents the kernel determines, in the order of their extent arrays.
    pub dynamic_outputs: Vec<u32>,
    /// Attributes whose values are passed as the last inputs.
    pub given: Vec<String>,
}

impl Description {
    /// The serialized form, which [`Description::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        string(&self.operator, &mut bytes);
        bytes.push(self.random.into());
        count(self.attributes.len(), &mut bytes);
        for (name, item) in &self.attributes {
            string(name, &mut bytes);
            value(item, &mut bytes);
        }
        for arrays in [&self.inputs, &self.outputs] {
            count(arrays.len(), &mut bytes);
            for array in arrays {
                string(array.element.name(), &mut bytes);
                count(array.rank, &mut bytes);
            }
        }
        count(self.dynamic_outputs.len(), &mut bytes);
        for position in &self.dynamic_outputs {
            bytes.extend(position.to_le_bytes());
        }
        count(self.given.len(), &mut bytes);
        for name in &self.given {
            string(name, &mut bytes);
        }
        bytes
    }

    /// Reads bytes; `None` if [`Description::to_bytes`] does not write such bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Description> {
        let mut reader = Reader(bytes);
        if reader.byte()? != VERSION {
            return None;
        }
        let operator = reader.string()?;
        let random = reader.byte()? != 0;
        let attributes = reader.list(|r| Some((r.string()?, r.value(0)?)))?;
        let array = |r: &mut Reader| {
            let element = element(&r.string()?)?;
            let rank = usize::try_from(r.u32()?).ok()?;
            Some(Array { element, rank })
        };
        let inputs = reader.list(array)?;
        let outputs = reader.list(array)?;
        let dynamic_outputs = reader.list(Reader::u32)?;
        let given = reader.list(Reader::string)?;
        reader.0.is_empty().then_some(Description {
            operator,
            random,
            attributes,
            inputs,
            outputs,
            dynamic_outputs,
            given,
        })
    }
}

/// The element type with this name.
pub fn element(name: &str) -> Option<ElementType> {
    use ElementType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let all = [Bool, F32, I64, F64, F16, BF16, I8, I16, I32, U8, U16, U32, U64];
    all.into_iter().find(|e| e.name() == name)
}

/// A count. Descriptions are far smaller than 2³² items; a longer list reads back as malformed.
fn count(length: usize, bytes: &mut Vec<u8>) {
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

fn string(text: &str, bytes: &mut Vec<u8>) {
    count(text.len(), bytes);
    bytes.extend(text.as_bytes());
}

fn value(item: &Value, bytes: &mut Vec<u8>) {
    match item {
        Value::Null => bytes.push(0),
        Value::Bool(b) => bytes.extend([1, u8::from(*b)]),
        Value::Int(i) => {
            bytes.push(2);
            bytes.extend(i.to_le_bytes());
        }
        Value::Real(x) => {
            bytes.push(3);
            bytes.extend(x.to_bits().to_le_bytes());
        }
        Value::Str(text) => {
            bytes.push(4);
            string(text, bytes);
        }
        Value::List(items) => {
            bytes.push(5);
            count(items.len(), bytes);
            for item in items {
                value(item, bytes);
            }
        }
        Value::Unknown => bytes.push(6),
    }
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn string(&mut self) -> Option<String> {
        let length = usize::try_from(self.u32()?).ok()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        for _ in 0..self.u32()? {
            items.push(item(self)?);
        }
        Some(items)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Bool(self.byte()? != 0),
            2 => Value::Int(self.u64()?.cast_signed()),
            3 => Value::Real(f64::from_bits(self.u64()?)),
            4 => Value::Str(self.string()?),
            6 => Value::Unknown,
            5 if depth < MAX_DEPTH => Value::List(self.list(|r| r.value(depth + 1))?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description() -> Description {
        let array = |element, rank| Array { element, rank };
        Description {
            operator: "layout.nonzero".into(),
            random: true,
            attributes: vec![
                ("a".into(), Value::Null),
                ("b".into(), Value::List(vec![Value::Int(-3), Value::Real(0.5)])),
                ("c".into(), Value::Str("é".into())),
                ("d".into(), Value::Bool(true)),
                ("e".into(), Value::List(vec![Value::Unknown])),
            ],
            inputs: vec![array(ElementType::F32, 2)],
            outputs: vec![array(ElementType::I64, 2), array(ElementType::I64, 1)],
            dynamic_outputs: vec![0],
            given: vec!["k".into()],
        }
    }

    #[test]
    fn bytes_read_back() {
        let bytes = description().to_bytes();
        assert_eq!(Description::from_bytes(&bytes), Some(description()));
    }

    #[test]
    fn cut_or_longer_bytes_are_refused() {
        let mut bytes = description().to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Description::from_bytes(&bytes[..length]), None, "{length}");
        }
        bytes.push(0);
        assert_eq!(Description::from_bytes(&bytes), None);
    }
}
