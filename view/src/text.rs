// SPDX-License-Identifier: Apache-2.0
//! Formats types, values and locations as text.

use skript_frontend::model::{self, AttributeValue, ConstantData, Extent, ShapeExpr};
use skript_frontend::source::{SourceFile, SourceMap, Span};
use skript_semantics::{Numbers, Scalar};
use skript_tensor::ElementType;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hasher as _};

/// Maximum number of elements that are shown.
const MAX_ELEMENTS: usize = 16;
/// Maximum number of characters that are shown.
const MAX_CHARACTERS: usize = 400;

/// The type of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorType {
    /// The element type, such as `f32`.
    pub element: String,
    /// The extents, outermost first.
    pub extents: Vec<Dimension>,
}

/// An extent of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A static extent.
    Static(u64),
    /// A dynamic extent: its name in the document, if it has one, and its upper bound.
    Dynamic(Option<String>, u64),
}

/// `f32[batch,64,≤56]`: an extent has its name, or its upper bound if it has none in the document.
impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents = self.extents.iter().map(|extent| match extent {
            Dimension::Static(n) => n.to_string(),
            Dimension::Dynamic(Some(name), _) => name.clone(),
            Dimension::Dynamic(None, bound) => format!("≤{bound}"),
        });
        let extents: Vec<String> = extents.collect();
        write!(f, "{}[{}]", self.element, extents.join(","))
    }
}

pub(crate) fn tensor(tensor: &model::TensorType, numbers: Numbers) -> TensorType {
    let extents = tensor.shape.iter().map(|extent| match extent {
        Extent::Fixed(n) => Dimension::Static(*n),
        Extent::Dynamic { expr, bound } => match &**expr {
            ShapeExpr::Symbol(name) if !name.contains('.') => Dimension::Dynamic(Some(name.clone()), *bound),
            _ => Dimension::Dynamic(None, *bound),
        },
    });
    TensorType {
        element: ElementType::for_kind(tensor.kind, numbers).to_string(),
        extents: extents.collect(),
    }
}

/// The sign around the names of dimensions in a [`Marked`] text. Documents do not have it.
const MARK: char = '\u{1}';

/// A text in which the names of dynamic dimensions are marked, so that a comparison can replace them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marked(String);

impl Marked {
    /// A text with marked names.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Marked(text.into())
    }

    /// A name for [`Marked::new`].
    pub(crate) fn name(name: &str) -> String {
        format!("{MARK}{name}{MARK}")
    }

    /// The text with other names of dimensions.
    pub(crate) fn shown(&self, names: &BTreeMap<String, String>) -> String {
        let pieces = self.0.split(MARK).enumerate().map(|(at, piece)| match names.get(piece) {
            Some(name) if at % 2 == 1 => name,
            _ => piece,
        });
        pieces.collect()
    }
}

/// An extent, without the upper bound of a dynamic one.
pub(crate) fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Fixed(n) => n.to_string(),
        Extent::Dynamic { expr, .. } => expr.text(&Marked::name),
    }
}

/// A hash of a value whose text is truncated; equal for equal values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(u64);

impl Digest {
    /// The digest of a value whose text is `shown`.
    pub(crate) fn new(value: &impl fmt::Debug, shown: &str) -> Self {
        struct Hashed(DefaultHasher);
        impl fmt::Write for Hashed {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.write(text.as_bytes());
                Ok(())
            }
        }
        if !shown.contains('…') {
            return Digest::default();
        }
        let mut hashed = Hashed(DefaultHasher::new());
        let _ = write!(hashed, "{value:?}");
        Digest(hashed.0.finish())
    }
}

pub(crate) fn attribute(value: &AttributeValue) -> String {
    let text = match value {
        AttributeValue::Null | AttributeValue::Unknown => "null".to_owned(),
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::Int(value) => value.to_string(),
        AttributeValue::Real(value) => real(*value),
        AttributeValue::Str(value) => format!("'{value}'"),
        AttributeValue::List(items) => {
            let mut texts: Vec<String> = items.iter().take(MAX_ELEMENTS).map(attribute).collect();
            if items.len() > MAX_ELEMENTS {
                texts.push("…".to_owned());
            }
            format!("[{}]", texts.join(", "))
        }
        AttributeValue::Run { value, .. } => value.to_string(),
    };
    shortened(&text)
}

pub(crate) fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Real(value) => real(value),
    }
}

pub(crate) fn constant(data: &ConstantData) -> String {
    if let ConstantData::Splat(value) = data {
        return scalar(*value);
    }
    let mut texts: Vec<String> = data.scalars().take(MAX_ELEMENTS + 1).map(scalar).collect();
    if let Some(last) = texts.get_mut(MAX_ELEMENTS) {
        "…".clone_into(last);
    }
    format!("[{}]", texts.join(", "))
}

/// A real number with a decimal point, as in the language.
fn real(value: f64) -> String {
    format!("{value:?}")
}

/// `path:line:column`; empty for a span without a file.
pub(crate) fn location(span: Span, sources: &SourceMap) -> String {
    sources.get(span.file).map_or_else(String::new, |file| {
        let (line, column) = file.line_column(span.start);
        format!("{}:{line}:{column}", file.path.to_string_lossy())
    })
}

/// The comment after a span, on the last line of the span.
pub(crate) fn comment(span: Span, sources: &SourceMap) -> Option<String> {
    let text = &sources.get(span.file)?.text;
    let after = text.get(usize::try_from(span.end).ok()?..)?;
    let (_, comment) = after.lines().next()?.split_once('#')?;
    let comment = shortened(comment.trim());
    (!comment.is_empty()).then_some(comment)
}

/// The text of a span, truncated to a readable length.
pub(crate) fn call(span: Span, sources: &SourceMap) -> String {
    let text = sources.text(span);
    let column = |file: &SourceFile| file.line_column(span.start).1;
    let column = sources.get(span.file).map_or(1, column);
    shortened(&dedented(text, column.saturating_sub(1)))
}

/// Removes up to `columns` spaces of indentation from all lines except the first.
fn dedented(text: &str, columns: usize) -> String {
    let lines = text.split('\n').enumerate().map(|(at, line)| {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let removed = if at == 0 { 0 } else { spaces.min(columns) };
        line.split_at(removed).1
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.split_at(end).0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut() {
        let zeros = ConstantData::Int(vec![0; 17]);
        assert_eq!(constant(&zeros), format!("[{}…]", "0, ".repeat(16)));
        let list = AttributeValue::List(vec![AttributeValue::Real(1.0), AttributeValue::Null]);
        assert_eq!(attribute(&list), "[1.0, null]");
        assert_eq!(shortened(&"ä".repeat(401)).chars().count(), 401);
    }

    #[test]
    fn calls_of_several_lines_begin_in_the_first_column() {
        assert_eq!(dedented("f{a=1,\n      b=2}(x,\n  y)", 4), "f{a=1,\n  b=2}(x,\ny)");
        assert_eq!(dedented("f(x)", 4), "f(x)");
    }
}
