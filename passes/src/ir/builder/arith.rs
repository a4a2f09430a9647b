// SPDX-License-Identifier: Apache-2.0
//! Builder methods for operations of the dialect `arith`.

use crate::ir::vector::shaped_like;
use crate::ir::{Builder, attributes, ops, types};
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};

/// The predicates of `arith.cmpi`, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the numbers follow from the complete list")]
pub enum Integers {
    /// `eq`.
    Equal,
    /// `ne`.
    NotEqual,
    /// `slt`.
    SignedLess,
    /// `sle`.
    SignedAtMost,
    /// `sgt`.
    SignedGreater,
    /// `sge`.
    SignedAtLeast,
    /// `ult`.
    Less,
    /// `ule`.
    AtMost,
    /// `ugt`.
    Greater,
    /// `uge`.
    AtLeast,
}

/// Predicates of `arith.cmpf`, with their numbers. All except the last three are false for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reals {
    /// `oeq`.
    Equal = 1,
    /// `ogt`.
    Greater = 2,
    /// `oge`.
    AtLeast = 3,
    /// `olt`.
    Less = 4,
    /// `ole`.
    AtMost = 5,
    /// `one`.
    LessOrGreater = 6,
    /// `ord`.
    Ordered = 7,
    /// `ueq`.
    EqualOrUnordered = 8,
    /// `une`.
    NotEqual = 13,
    /// `uno`.
    Unordered = 14,
}

/// Declares methods for operations whose operands and result have the same type.
macro_rules! same {
    ($($method:ident($($operand:ident),+) = $operation:path;)*) => {
        impl<'c: 'a, 'a> Builder<'c, 'a> {
            $(
                #[doc = concat!("`", stringify!($method), "`, with the type of its first operand.")]
                pub fn $method(&self, $($operand: Value<'c, 'a>),+) -> Value<'c, 'a> {
                    let operands = [$($operand),+];
                    self.make($operation, &operands, &[], operands[0].r#type())
                }
            )*
        }
    };
}

same! {
    addf(a, b) = ops::arith::ADDF;
    addi(a, b) = ops::arith::ADDI;
    andi(a, b) = ops::arith::ANDI;
    ceildivui(a, b) = ops::arith::CEILDIVUI;
    divf(a, b) = ops::arith::DIVF;
    divui(a, b) = ops::arith::DIVUI;
    maxsi(a, b) = ops::arith::MAXSI;
    maxui(a, b) = ops::arith::MAXUI;
    minsi(a, b) = ops::arith::MINSI;
    minui(a, b) = ops::arith::MINUI;
    mulf(a, b) = ops::arith::MULF;
    muli(a, b) = ops::arith::MULI;
    ori(a, b) = ops::arith::ORI;
    remui(a, b) = ops::arith::REMUI;
    shli(a, b) = ops::arith::SHLI;
    shrsi(a, b) = ops::arith::SHRSI;
    shrui(a, b) = ops::arith::SHRUI;
    subf(a, b) = ops::arith::SUBF;
    subi(a, b) = ops::arith::SUBI;
    xori(a, b) = ops::arith::XORI;
}

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// `arith.constant`, with the type of its value.
    pub fn literal(&self, value: Attribute<'c>) -> Value<'c, 'a> {
        self.make(ops::arith::CONSTANT, &[], &[("value", value)], crate::ir::dense::type_of(value))
    }

    /// A constant integer, index or bool, or a splat of it.
    pub fn int(&self, value: i64, r#type: Type<'c>) -> Value<'c, 'a> {
        let one = IntegerAttribute::new(types::element_or_self(r#type), value);
        self.splat(one.into(), r#type)
    }

    /// A constant index.
    pub fn idx(&self, value: i64) -> Value<'c, 'a> {
        self.int(value, self.index_type())
    }

    /// A constant real, or a splat of it.
    pub fn real(&self, value: f64, r#type: Type<'c>) -> Value<'c, 'a> {
        let one = FloatAttribute::new(self.context, types::element_or_self(r#type), value);
        self.splat(one.into(), r#type)
    }

    /// The constant zero of an integer or float type, or a splat of it.
    pub fn zero(&self, r#type: Type<'c>) -> Value<'c, 'a> {
        if types::element_or_self(r#type).is_float() { self.real(0.0, r#type) } else { self.int(0, r#type) }
    }

    /// A constant scalar, or a splat of it.
    pub fn splat(&self, element: Attribute<'c>, r#type: Type<'c>) -> Value<'c, 'a> {
        self.literal(attributes::splat(element, r#type))
    }

    /// A constant bool.
    pub fn truth(&self, value: bool) -> Value<'c, 'a> {
        self.int(value.into(), types::flag(self.context))
    }

    /// `arith.cmpi`.
    pub fn cmpi(&self, predicate: Integers, a: Value<'c, 'a>, b: Value<'c, 'a>) -> Value<'c, 'a> {
        self.comparison(ops::arith::CMPI, predicate as i64, [a, b])
    }

    /// `arith.cmpf`.
    pub fn cmpf(&self, predicate: Reals, a: Value<'c, 'a>, b: Value<'c, 'a>) -> Value<'c, 'a> {
        self.comparison(ops::arith::CMPF, predicate as i64, [a, b])
    }

    fn comparison(&self, name: &str, predicate: i64, operands: [Value<'c, 'a>; 2]) -> Value<'c, 'a> {
        let result = shaped_like(operands[0].r#type(), types::flag(self.context));
        self.make(name, &operands, &[("predicate", attributes::i64(self.context, predicate))], result)
    }

    /// `arith.select`.
    pub fn select(
        &self,
        condition: Value<'c, 'a>,
        then: Value<'c, 'a>,
        otherwise: Value<'c, 'a>,
    ) -> Value<'c, 'a> {
        self.make(ops::arith::SELECT, &[condition, then, otherwise], &[], then.r#type())
    }

    /// Converts a scalar, or each element of a vector or a tensor, to another type.
    pub fn convert(&self, name: &str, value: Value<'c, 'a>, element: Type<'c>) -> Value<'c, 'a> {
        self.make(name, &[value], &[], shaped_like(value.r#type(), element))
    }

    /// `arith.index_cast`.
    pub fn index_cast(&self, value: Value<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
        self.convert(ops::arith::INDEX_CAST, value, r#type)
    }

    /// `builtin.unrealized_conversion_cast`, between representations of one value.
    pub fn cast(&self, value: Value<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
        self.make(ops::builtin::UNREALIZED_CONVERSION_CAST, &[value], &[], r#type)
    }

    /// `arith.bitcast` of each element.
    pub fn bitcast(&self, value: Value<'c, 'a>, element: Type<'c>) -> Value<'c, 'a> {
        self.convert(ops::arith::BITCAST, value, element)
    }
}
