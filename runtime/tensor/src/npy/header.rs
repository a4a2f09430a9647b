// SPDX-License-Identifier: Apache-2.0
//! The header of an `.npy` file: a Python dictionary with three known keys.

use crate::element::ElementType;

#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub element: ElementType,
    /// Each item has two elements: a complex number.
    pub pairs: bool,
    pub(crate) big_endian: bool,
    pub(crate) fortran: bool,
    pub shape: Vec<u64>,
}

const TYPES: [(&str, ElementType); 12] = [
    ("f2", ElementType::F16),
    ("f4", ElementType::F32),
    ("f8", ElementType::F64),
    ("i1", ElementType::I8),
    ("i2", ElementType::I16),
    ("i4", ElementType::I32),
    ("i8", ElementType::I64),
    ("u1", ElementType::U8),
    ("u2", ElementType::U16),
    ("u4", ElementType::U32),
    ("u8", ElementType::U64),
    ("b1", ElementType::Bool),
];

/// Types that the language lacks: complex numbers, and bf16, which numpy writes as untyped bytes.
const WIDER: [(&str, ElementType, bool); 3] =
    [("c8", ElementType::F32, true), ("c16", ElementType::F64, true), ("V2", ElementType::BF16, false)];

/// numpy's name of complex numbers with parts of this type; `None` if numpy has no such type.
pub(super) fn pair_descriptor(element: ElementType) -> Option<&'static str> {
    WIDER.iter().find(|t| t.1 == element && t.2).map(|t| t.0)
}

/// numpy's name of a type, without byte order; `None` for bf16.
pub(super) fn descriptor(element: ElementType) -> Option<&'static str> {
    TYPES.iter().find(|t| t.1 == element).map(|t| t.0)
}

/// The dictionary, padded so that the data begins at a multiple of 64 bytes (version 1.0).
pub(super) fn text(descriptor: &str, shape: &[u64]) -> String {
    let order = if descriptor.ends_with('1') { '|' } else { '<' };
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    let tuple = match extents.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    };
    let mut text = format!("{{'descr': '{order}{descriptor}', 'fortran_order': False, 'shape': {tuple}, }}");
    // 10 bytes precede the text, a line feed ends it.
    let padding = (64 - (10 + text.len() + 1) % 64) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    text
}

/// Parses a header. `wider` accepts complex numbers and bf16, too.
pub(super) fn parse(text: &str, wider: bool) -> Result<Header, String> {
    let (mut element, mut fortran, mut shape) = (None, None, None);
    let mut rest = expect(text.trim(), "{")?;
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            match after.trim() {
                "" => break,
                _ => return Err("its header has text after the dictionary".to_owned()),
            }
        }
        let (key, after) = string(rest)?;
        let value = expect(after.trim_start(), ":")?.trim_start();
        rest = match key {
            "descr" => {
                let (name, after) =
                    string(value).map_err(|_| "its element type is structured, not a number".to_string())?;
                element = Some(element_type(name, wider)?);
                after
            }
            "fortran_order" => {
                let (flag, after) = word(value);
                fortran = Some(match flag {
                    "True" => true,
                    "False" => false,
                    other => return Err(format!("its fortran_order is {other:?}")),
                });
                after
            }
            "shape" => {
                let (extents, after) = tuple(value)?;
                shape = Some(extents);
                after
            }
            other => return Err(format!("its header has an unknown key {other:?}")),
        }
        .trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    match (element, fortran, shape) {
        (Some((element, pairs, big_endian)), Some(fortran), Some(shape)) => {
            Ok(Header { element, pairs, big_endian, fortran, shape })
        }
        _ => Err("its header has no descr, fortran_order or shape".to_string()),
    }
}

fn expect<'a>(text: &'a str, start: &str) -> Result<&'a str, String> {
    text.strip_prefix(start).ok_or_else(|| format!("its header has no {start:?}"))
}

fn string(text: &str) -> Result<(&str, &str), String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or("its header has no string")?;
    text.strip_prefix(quote)
        .and_then(|t| t.split_once(quote))
        .ok_or_else(|| "a string of its header does not end".to_string())
}

fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn tuple(text: &str) -> Result<(Vec<u64>, &str), String> {
    let (inside, after) = expect(text, "(")?.split_once(')').ok_or("the shape in its header does not end")?;
    let mut extents = Vec::new();
    for part in inside.split(',').map(str::trim) {
        if part.is_empty() {
            continue;
        }
        // Python 2 wrote long integers with an L.
        let digits = part.strip_suffix('L').unwrap_or(part);
        let extent = digits.parse().map_err(|_| format!("its shape has the extent {part:?}"))?;
        extents.push(extent);
    }
    Ok((extents, after))
}

/// The type, whether each item is a complex number, whether the byte order is big endian.
fn element_type(name: &str, wider: bool) -> Result<(ElementType, bool, bool), String> {
    let unsupported = || format!("its element type {name:?} is not a float, int or bool");
    let mut characters = name.chars();
    let order = characters.next().ok_or_else(unsupported)?;
    let word = characters.as_str();
    let known = TYPES.iter().find(|t| t.0 == word).map(|t| (t.1, false));
    let also = WIDER.iter().filter(|_| wider).find(|t| t.0 == word);
    let (element, pairs) = known.or(also.map(|t| (t.1, t.2))).ok_or_else(unsupported)?;
    match order {
        '<' | '=' | '|' => Ok((element, pairs, false)),
        '>' => Ok((element, pairs, true)),
        _ => Err(unsupported()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numpys_own_header() {
        let header = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (), }   \n", false);
        let expected = Header {
            element: ElementType::F64,
            pairs: false,
            big_endian: false,
            fortran: false,
            shape: vec![],
        };
        assert_eq!(header, Ok(expected));
    }

    #[test]
    fn damaged_headers_do_not_hang() {
        for text in ["", "{", "{'descr'", "{'descr': '<f4'", "{'shape': (1", "{'a': 1}", "{,}"] {
            assert!(parse(text, true).is_err(), "{text}");
        }
    }
}
