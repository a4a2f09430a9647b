// SPDX-License-Identifier: Apache-2.0
//! Emits the steps of scalar expansions as operations of `arith` and `math`, on scalars or vectors.

use super::{Builder, attributes, context, llvm, ops, types, vector};
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};
use melior::{Context, Error};
use skript_dialect::melior;
use skript_semantics::{Class, Emitter, Expansion, Operation, RealType, Scalar, ScalarKind, ScalarOp};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The class of a scalar type; `None` if steps do not support it.
pub fn class_of(r#type: Type<'_>) -> Option<Class> {
    if r#type.is_index() {
        return Some(Class::Index);
    }
    let integer = types::as_integer(r#type).map(|integer| Class::Int(integer.width()));
    integer.or_else(|| types::reals(r#type).map(Class::Real))
}

/// The scalar type of a class.
pub fn type_of(context: &Context, class: Class) -> Type<'_> {
    match class {
        Class::Int(width) => IntegerType::new(context, width).into(),
        Class::Index => Type::index(context),
        Class::Real(kind) => types::real(context, kind),
    }
}

/// The operation for a step, and the predicate of a comparison. `None` if no operation computes the step.
pub fn spelling(operation: Operation, from: Class, to: Class) -> Option<(&'static str, Option<i64>)> {
    if let Some((name, predicate)) = comparison(operation, from) {
        return Some((name, Some(predicate)));
    }
    let is_real = from.is_real();
    let by_kind = |real, integer| if is_real { real } else { integer };
    let name = match operation {
        Operation::Scalar(op) => match op {
            ScalarOp::Add => by_kind(ops::arith::ADDF, ops::arith::ADDI),
            ScalarOp::Sub => by_kind(ops::arith::SUBF, ops::arith::SUBI),
            ScalarOp::Mul => by_kind(ops::arith::MULF, ops::arith::MULI),
            ScalarOp::Div => by_kind(ops::arith::DIVF, ops::arith::FLOORDIVSI),
            ScalarOp::CeilDiv => ops::arith::CEILDIVSI,
            ScalarOp::Pow => by_kind(ops::math::POWF, ops::math::IPOWI),
            ScalarOp::Min => by_kind(ops::arith::MINIMUMF, ops::arith::MINSI),
            ScalarOp::Max => by_kind(ops::arith::MAXIMUMF, ops::arith::MAXSI),
            ScalarOp::Neg => ops::arith::NEGF,
            ScalarOp::And => ops::arith::ANDI,
            ScalarOp::Or => ops::arith::ORI,
            ScalarOp::Xor => ops::arith::XORI,
            ScalarOp::Select => ops::arith::SELECT,
            ScalarOp::Abs => ops::math::ABSF,
            ScalarOp::Sqrt => ops::math::SQRT,
            ScalarOp::Exp => ops::math::EXP,
            ScalarOp::Log => ops::math::LOG,
            ScalarOp::Sin => ops::math::SIN,
            ScalarOp::Cos => ops::math::COS,
            ScalarOp::Tan => ops::math::TAN,
            ScalarOp::Asin => ops::math::ASIN,
            ScalarOp::Acos => ops::math::ACOS,
            ScalarOp::Atan => ops::math::ATAN,
            ScalarOp::Sinh => ops::math::SINH,
            ScalarOp::Cosh => ops::math::COSH,
            ScalarOp::Tanh => ops::math::TANH,
            ScalarOp::Asinh => ops::math::ASINH,
            ScalarOp::Acosh => ops::math::ACOSH,
            ScalarOp::Atanh => ops::math::ATANH,
            ScalarOp::Erf => ops::math::ERF,
            ScalarOp::Round => ops::math::ROUND,
            ScalarOp::Floor => ops::math::FLOOR,
            ScalarOp::Ceil => ops::math::CEIL,
            _ => return None,
        },
        Operation::Unsigned(ScalarOp::Mod) => ops::arith::REMUI,
        Operation::Unsigned(ScalarOp::ToReal) => ops::arith::UITOFP,
        Operation::Unsigned(ScalarOp::ToInt) if to == Class::Index => ops::arith::INDEX_CASTUI,
        Operation::Unsigned(ScalarOp::ToInt) => ops::arith::EXTUI,
        Operation::Quotient => ops::arith::DIVSI,
        Operation::Remainder => by_kind(ops::arith::REMF, ops::arith::REMSI),
        Operation::MultiplyAdd => ops::llvm::INTR_FMULADD,
        Operation::CopySign => ops::math::COPYSIGN,
        Operation::Trunc => ops::math::TRUNC,
        Operation::Atan2 => ops::math::ATAN2,
        Operation::Expm1 => ops::math::EXPM1,
        Operation::Log1p => ops::math::LOG1P,
        Operation::ShiftLeft => ops::arith::SHLI,
        Operation::ShiftRight => ops::arith::SHRUI,
        Operation::ShiftRightSigned => ops::arith::SHRSI,
        Operation::Bits => ops::arith::BITCAST,
        Operation::Convert => conversion(from, to),
        _ => return None,
    };
    Some((name, None))
}

/// The scalar operation that an operation of `arith` or `math` computes, and the kind of its operands. `None` for comparisons
/// and for operations without a scalar operation.
pub fn scalar_of(name: &str) -> Option<(ScalarOp, ScalarKind)> {
    static KNOWN: LazyLock<HashMap<&str, (ScalarOp, ScalarKind)>> = LazyLock::new(|| {
        // Later entries replace earlier ones, so that an operation on both kinds is an operation on reals.
        let classes = [(Class::I64, ScalarKind::Int), (Class::F32, ScalarKind::Real)].into_iter();
        let all = classes.flat_map(|(class, kind)| ScalarOp::ALL.map(|op| (op, class, kind)));
        let spelled = all.filter_map(|(op, class, kind)| {
            let (name, predicate) = spelling(Operation::Scalar(op), class, class)?;
            predicate.is_none().then_some((name, (op, kind)))
        });
        spelled.collect()
    });
    KNOWN.get(name).copied()
}

fn conversion(from: Class, to: Class) -> &'static str {
    match (from, to) {
        (Class::Index, _) | (_, Class::Index) => ops::arith::INDEX_CAST,
        (Class::Int(from), Class::Int(to)) if from < to => ops::arith::EXTSI,
        (Class::Int(_), Class::Int(_)) => ops::arith::TRUNCI,
        (Class::Int(_), Class::Real(_)) => ops::arith::SITOFP,
        (Class::Real(_), Class::Int(_)) => ops::arith::FPTOSI,
        (Class::Real(RealType::F64), Class::Real(_)) | (_, Class::Real(RealType::F16 | RealType::BF16)) => {
            ops::arith::TRUNCF
        }
        (Class::Real(_), Class::Real(_)) => ops::arith::EXTF,
    }
}

/// The comparison for a step, and its predicate. Comparisons of reals are ordered except `une` and `uno`; bools compare as
/// unsigned integers.
fn comparison(operation: Operation, from: Class) -> Option<(&'static str, i64)> {
    let (real, signed, unsigned) = match operation {
        Operation::LessOrGreater => return Some((ops::arith::CMPF, 6)),
        Operation::Unordered => return Some((ops::arith::CMPF, 14)),
        Operation::Scalar(op) | Operation::Unsigned(op) => match op {
            ScalarOp::Eq => (1, 0, 0),
            ScalarOp::Gt => (2, 4, 8),
            ScalarOp::Ge => (3, 5, 9),
            ScalarOp::Lt => (4, 2, 6),
            ScalarOp::Le => (5, 3, 7),
            ScalarOp::Ne => (13, 1, 1),
            _ => return None,
        },
        _ => return None,
    };
    Some(match from {
        Class::Real(_) => (ops::arith::CMPF, real),
        Class::BOOL => (ops::arith::CMPI, unsigned),
        _ if matches!(operation, Operation::Unsigned(_)) => (ops::arith::CMPI, unsigned),
        _ => (ops::arith::CMPI, signed),
    })
}

/// Emits steps at an insertion point.
#[derive(Clone, Copy)]
pub(crate) struct Steps<'c, 'a> {
    at: Builder<'c, 'a>,
    /// A type with the shape of the values.
    model: Type<'c>,
    /// The fast-math flags of sums, differences and products of reals.
    fast_math: Option<Attribute<'c>>,
    is_llvm: bool,
}

impl<'c: 'a, 'a> Steps<'c, 'a> {
    /// Emits operations on values with the shape of `model`.
    pub(crate) fn new(at: Builder<'c, 'a>, model: Type<'c>) -> Self {
        Steps { at, model, fast_math: None, is_llvm: false }
    }

    /// Sets the fast-math flags of sums, differences and products of reals.
    pub(crate) fn with_fast_math(self, fast_math: Option<Attribute<'c>>) -> Self {
        Steps { fast_math, ..self }
    }

    /// Emits operations of the LLVM dialect instead of `arith`.
    pub(crate) fn in_llvm(self) -> Self {
        Steps { is_llvm: true, ..self }
    }

    /// The type of values of a class.
    pub(crate) fn r#type(&self, class: Class) -> Type<'c> {
        vector::shaped_like(self.model, type_of(self.at.context, class))
    }
}

impl<'c: 'a, 'a> Emitter for Steps<'c, 'a> {
    type Value = Value<'c, 'a>;
    type Error = Error;

    fn constant(&mut self, number: Scalar, class: Class) -> Result<Self::Value, Error> {
        let (r#type, element) = (self.r#type(class), type_of(self.at.context, class));
        let number = attributes::scalar(self.at.context, number, element);
        let value =
            if r#type.is_vector() { DenseElementsAttribute::splat(r#type, number).into() } else { number };
        let name = if self.is_llvm { ops::llvm::MLIR_CONSTANT } else { ops::arith::CONSTANT };
        self.at.value(name, &[], &[("value", value)], r#type)
    }

    fn apply(
        &mut self,
        operation: Operation,
        operands: &[(Self::Value, Class)],
        class: Class,
    ) -> Result<Self::Value, Error> {
        let from = operands.last().map_or(class, |(_, class)| *class);
        let (name, predicate) = spelling(operation, from, class).ok_or(Error::OperationBuild)?;
        let compared = predicate.map(|number| ("predicate", attributes::i64(self.at.context, number)));
        let is_arithmetic = [ops::arith::ADDF, ops::arith::SUBF, ops::arith::MULF].contains(&name);
        let flags = self.fast_math.filter(|_| is_arithmetic).map(|flags| ("fastmath", flags));
        let attributes: Vec<_> = compared.into_iter().chain(flags).collect();
        let name = if self.is_llvm { llvm::of_arith(name).ok_or(Error::OperationBuild)? } else { name };
        let operands: Vec<Value> = operands.iter().map(|(value, _)| *value).collect();
        self.at.value(name, &operands, &attributes, self.r#type(class))
    }

    fn repeat(
        &mut self,
        count: Self::Value,
        first: &[(Self::Value, Class)],
        body: &mut dyn FnMut(&mut Self, &[Self::Value]) -> Result<Vec<Self::Value>, Error>,
    ) -> Result<Self::Value, Error> {
        let types: Vec<Type> = first.iter().map(|(_, class)| self.r#type(*class)).collect();
        let arguments = [&[Type::index(self.at.context)], types.as_slice()].concat();
        let bounds = [self.at.idx(0), count, self.at.idx(1)];
        let (region, inside, values) = self.at.region(&arguments);
        let (_, carried) = values.split_first().ok_or(Error::OperationBuild)?;
        let next = body(&mut Steps { at: inside, ..*self }, carried)?;
        inside.create(ops::scf::YIELD, &next, &[], &[], Vec::new())?;
        let operands: Vec<Value> = bounds.into_iter().chain(first.iter().map(|(value, _)| *value)).collect();
        let repeated = self.at.create(ops::scf::FOR, &operands, &[], &types, vec![region])?;
        Ok(repeated.result(0)?.into())
    }
}

/// Replaces an operation by an expansion of it.
pub(crate) fn replace(op: OperationRef<'_, '_>, expansion: &Expansion) -> Result<(), Error> {
    let result: Value = op.result(0)?.into();
    let at = Builder::before(context::of(op), op)?;
    let operands: Vec<Value> = op.operands().collect();
    let value = expansion.emit(&mut Steps::new(at, result.r#type()), &operands)?;
    super::replace_uses(result, value);
    super::erase(op);
    Ok(())
}
