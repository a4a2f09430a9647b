// SPDX-License-Identifier: Apache-2.0
//! Types of C for scalars and elements of arrays, and their literals.

use crate::error::CodegenError;
use crate::ir::types;
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, TypeLike};
use skript_semantics::RealType;
use skript_tensor::ElementType;

/// The type of a scalar. `index` is a 64-bit integer; 16-bit floats are their bits in `uint16_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Bool,
    /// A signed integer of 8, 16, 32 or 64 bits.
    Int(u32),
    Real(RealType),
}

impl Element {
    /// The type of a value.
    ///
    /// # Errors
    /// The type is not a scalar of the language.
    pub(super) fn new(r#type: Type) -> Result<Self, CodegenError> {
        if r#type.is_index() {
            return Ok(Element::Int(64));
        }
        if let Some(real) = types::reals(r#type) {
            return Ok(Element::Real(real));
        }
        match IntegerType::try_from(r#type).map(|integer| integer.width()) {
            Ok(1) => Ok(Element::Bool),
            Ok(bits @ (8 | 16 | 32 | 64)) => Ok(Element::Int(bits)),
            _ => Err(CodegenError::Module(format!("values of type `{}` have no form in C", r#type))),
        }
    }

    /// The name of the type in C.
    pub(super) fn name(self) -> &'static str {
        match self {
            Element::Bool => "bool",
            Element::Int(8) => "int8_t",
            Element::Int(16) => "int16_t",
            Element::Int(32) => "int32_t",
            Element::Int(_) => "int64_t",
            Element::Real(RealType::F16 | RealType::BF16) => "uint16_t",
            Element::Real(RealType::F32) => "float",
            Element::Real(RealType::F64) => "double",
        }
    }

    /// The unsigned type for wrapping arithmetic: at least 32 bits, because C converts narrower types to `int`.
    pub(super) fn unsigned(self) -> &'static str {
        match self {
            Element::Int(64) => "uint64_t",
            _ => "uint32_t",
        }
    }

    /// The unsigned type with the bits of this type.
    pub(super) fn bits(self) -> &'static str {
        match self {
            Element::Int(8) | Element::Bool => "uint8_t",
            Element::Int(16) | Element::Real(RealType::F16 | RealType::BF16) => "uint16_t",
            Element::Int(32) | Element::Real(RealType::F32) => "uint32_t",
            _ => "uint64_t",
        }
    }

    /// The size in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Element::Bool => 1,
            Element::Int(bits) => bits as usize / 8,
            Element::Real(RealType::F64) => 8,
            Element::Real(RealType::F32) => 4,
            Element::Real(_) => 2,
        }
    }

    /// Whether the type is a 16-bit float.
    pub(super) fn is_narrow_real(self) -> bool {
        matches!(self, Element::Real(kind) if kind.is_half())
    }

    /// The minimum and the maximum of an integer or a bool.
    pub(super) fn range(self) -> (i128, i128) {
        match self {
            Element::Int(bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, 1),
        }
    }
}

impl From<ElementType> for Element {
    fn from(element: ElementType) -> Self {
        match (element, element.real()) {
            (_, Some(real)) => Element::Real(real),
            (ElementType::Bool, None) => Element::Bool,
            // The text of a constant is that of a signed integer; arrays of unsigned ones are converted when models are read.
            (other, None) => Element::Int(8 * u32::try_from(other.size()).unwrap_or(8)),
        }
    }
}

/// The literal of a scalar constant; of a 16-bit float, the value in `double`.
pub(super) fn constant(value: Attribute, element: Element) -> Option<String> {
    match element {
        Element::Real(real) => {
            FloatAttribute::try_from(value).ok().map(|value| real_literal(value.value(), real))
        }
        Element::Int(_) => IntegerAttribute::try_from(value).ok().map(|value| integer_literal(value.value())),
        Element::Bool => {
            let is_set = value.to_string().starts_with("true") || value.to_string().starts_with("-1");
            Some(is_set.to_string())
        }
    }
}

/// The literal of an integer.
pub(super) fn integer_literal(value: i64) -> String {
    match value {
        i64::MIN => "INT64_MIN".to_owned(),
        _ if i32::try_from(value).is_ok_and(|value| value != i32::MIN) => value.to_string(),
        _ if value < 0 => format!("-INT64_C({})", value.unsigned_abs()),
        _ => format!("INT64_C({value})"),
    }
}

/// The literal of a real: the shortest one that has its value.
pub(super) fn real_literal(value: f64, real: RealType) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match real {
        _ if value.is_nan() => format!("{sign}NAN"),
        _ if value.is_infinite() => format!("{sign}INFINITY"),
        #[expect(clippy::cast_possible_truncation, reason = "the value is one of the type")]
        RealType::F32 => format!("{:?}f", value as f32),
        _ => format!("{value:?}"),
    }
}

/// The literals of the elements of a constant array, from their bytes in little-endian order.
pub(super) fn literals(bytes: &[u8], element: Element) -> Vec<String> {
    let size = element.size();
    let literal = |bytes: &[u8]| {
        let mut word = [0; 8];
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let word = u64::from_le_bytes(word);
        #[expect(clippy::cast_possible_truncation, reason = "the upper bytes are zero")]
        match element {
            Element::Bool => (word != 0).to_string(),
            Element::Int(bits) => integer_literal((word << (64 - bits)).cast_signed() >> (64 - bits)),
            Element::Real(RealType::F64) => real_literal(f64::from_bits(word), RealType::F64),
            Element::Real(RealType::F32) => real_literal(f32::from_bits(word as u32).into(), RealType::F32),
            Element::Real(_) => format!("0x{word:04x}"),
        }
    };
    bytes.chunks_exact(size).map(literal).collect()
}
