// SPDX-License-Identifier: Apache-2.0
//! Element types of StableHLO, and the types that represent them in generated code.

use melior::Context;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::{Builder, ops, types};
use skript_semantics::RealType;

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
    Float(RealType),
    /// A pair of `f32` or `f64`.
    Complex(RealType),
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
            return types::reals(part).map(Element::Complex);
        }
        types::reals(r#type).map(Element::Float)
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
            Element::Float(float) => float.name().to_owned(),
            Element::Complex(part) => format!("complex<{}>", part.name()),
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
            Element::Float(float) => types::real(context, float),
            Element::Complex(part) => types::complex(types::real(context, part)),
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
