// SPDX-License-Identifier: Apache-2.0
//! Element types of StableHLO, and the types that represent them in generated code.

use melior::Context;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::{Builder, ops, types};

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `i1`.
    Pred,
    /// `iN`, a signed integer.
    Signed(u32),
    /// `uiN`, an unsigned integer.
    Unsigned(u32),
    /// A floating-point type.
    Float(Float),
    /// A pair of `f32` or `f64`.
    Complex(Float),
}

/// The floating-point types that are imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Float {
    fn from_type(r#type: Type<'_>) -> Option<Float> {
        match r#type.to_string().as_str() {
            "f16" => Some(Float::F16),
            "bf16" => Some(Float::BF16),
            "f32" => Some(Float::F32),
            "f64" => Some(Float::F64),
            _ => None,
        }
    }

    /// The type as MLIR text, `f32`.
    pub fn text(self) -> &'static str {
        match self {
            Float::F16 => "f16",
            Float::BF16 => "bf16",
            Float::F32 => "f32",
            Float::F64 => "f64",
        }
    }

    /// The MLIR type.
    pub(crate) fn r#type(self, context: &Context) -> Type<'_> {
        match self {
            Float::F16 => Type::float16(context),
            Float::BF16 => Type::bfloat16(context),
            Float::F32 => Type::float32(context),
            Float::F64 => Type::float64(context),
        }
    }

    /// The width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Float::F16 | Float::BF16 => 16,
            Float::F32 => 32,
            Float::F64 => 64,
        }
    }

    /// Whether the type has half precision; functions of such types are computed in f32.
    pub(crate) fn is_half(self) -> bool {
        matches!(self, Float::F16 | Float::BF16)
    }
}

impl Element {
    /// The element type for a scalar MLIR type; `None` if StableHLO does not have it.
    pub fn from_type(r#type: Type<'_>) -> Option<Element> {
        if let Ok(integer) = IntegerType::try_from(r#type) {
            return match integer.width() {
                1 => Some(Element::Pred),
                width @ (4 | 8 | 16 | 32 | 64) if integer.is_unsigned() => Some(Element::Unsigned(width)),
                width @ (4 | 8 | 16 | 32 | 64) => Some(Element::Signed(width)),
                _ => None,
            };
        }
        if let Some(part) = types::complex_part(r#type) {
            return Float::from_type(part).map(Element::Complex);
        }
        Float::from_type(r#type).map(Element::Float)
    }

    /// The number of bits; for a complex type, the sum of both parts.
    pub fn bits(self) -> u32 {
        match self {
            Element::Pred => 1,
            Element::Signed(width) | Element::Unsigned(width) => width,
            Element::Float(float) => float.bits(),
            Element::Complex(part) => 2 * part.bits(),
        }
    }

    /// The name of the type in StableHLO.
    pub fn text(self) -> String {
        match self {
            Element::Pred => "i1".to_owned(),
            Element::Signed(width) => format!("i{width}"),
            Element::Unsigned(width) => format!("ui{width}"),
            Element::Float(float) => float.text().to_owned(),
            Element::Complex(part) => format!("complex<{}>", part.text()),
        }
    }

    /// The type in StableHLO.
    pub(crate) fn r#type(self, context: &Context) -> Type<'_> {
        match self {
            Element::Unsigned(width) => IntegerType::unsigned(context, width).into(),
            other => other.signless(context),
        }
    }

    /// The type in `arith`, where integers are signless.
    pub(crate) fn signless(self, context: &Context) -> Type<'_> {
        match self {
            Element::Pred => types::flag(context),
            Element::Signed(width) | Element::Unsigned(width) => types::int(context, width),
            Element::Float(float) => float.r#type(context),
            Element::Complex(part) => types::complex(part.r#type(context)),
        }
    }

    /// The value of an element in the type that `arith` uses.
    pub(crate) fn without_sign<'c: 'a, 'a>(
        self,
        value: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Value<'c, 'a> {
        match self {
            Element::Unsigned(_) => at.cast(value, self.signless(at.context)),
            _ => value,
        }
    }

    /// Reverses [`Element::without_sign`].
    pub(crate) fn with_sign<'c: 'a, 'a>(self, value: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        match self {
            Element::Unsigned(_) => at.cast(value, self.r#type(at.context)),
            _ => value,
        }
    }
}

/// Converts a scalar or a tensor to another type with the same shape.
pub(crate) fn converted<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Value<'c, 'a> {
    if value.r#type() == r#type { value } else { at.make(ops::stablehlo::CONVERT, &[value], &[], r#type) }
}
