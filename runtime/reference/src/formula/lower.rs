// SPDX-License-Identifier: Apache-2.0
//! Converts expressions of the model to planned expressions.

use super::affine::{self, Affine};
use super::expr::{Address, Bool, Int, Real, Relation, Storage, Value};
use crate::error::{EvalError, internal};
use skript_frontend::model::{Expr, Node, ValueId};
use skript_semantics::{Numbers, Scalar, ScalarKind, ScalarOp, integer, real};

/// Collects the affine forms and tensors that expressions use.
pub(super) struct Lowering<'a> {
    /// The forms of the locals lowered so far.
    pub(crate) locals: Vec<Option<Affine>>,
    /// The extents of the domain.
    pub extents: &'a [i64],
    pub forms: Vec<Affine>,
    pub sources: Vec<ValueId>,
    pub written: &'a [ValueId],
    pub numbers: Numbers,
    /// The extents of any tensor of the function.
    pub(crate) shape_of: &'a dyn Fn(ValueId) -> Result<Vec<i64>, EvalError>,
}

type Lowered<T> = Result<T, EvalError>;

impl Lowering<'_> {
    pub(super) fn value(&mut self, expr: &Expr) -> Lowered<Value> {
        Ok(match expr.kind {
            ScalarKind::Int => Value::Int(self.int(expr)?),
            ScalarKind::Real => Value::Real(self.real(expr)?),
            ScalarKind::Bool => Value::Bool(self.bool(expr)?),
        })
    }

    pub(super) fn affine(&self, expr: &Expr) -> Option<Affine> {
        affine::affine(expr, &self.locals, self.extents.len())
    }

    fn register(&mut self, form: Affine) -> usize {
        match self.forms.iter().position(|f| *f == form) {
            Some(position) => position,
            None => {
                self.forms.push(form);
                self.forms.len() - 1
            }
        }
    }

    fn storage(&mut self, tensor: ValueId) -> Storage {
        if let Some(position) = self.written.iter().position(|&w| w == tensor) {
            return Storage::Written(position);
        }
        match self.sources.iter().position(|&s| s == tensor) {
            Some(position) => Storage::Source(position),
            None => {
                self.sources.push(tensor);
                Storage::Source(self.sources.len() - 1)
            }
        }
    }

    pub(crate) fn address(&mut self, tensor: ValueId, subscripts: &[Expr]) -> Lowered<Address> {
        let shape = (self.shape_of)(tensor)?;
        if shape.len() != subscripts.len() {
            return Err(internal("an access has another rank than its tensor"));
        }
        let mut base = Affine::default();
        let (mut checks, mut dynamic) = (Vec::new(), Vec::new());
        let mut stride = 1i64;
        for (subscript, &extent) in subscripts.iter().zip(&shape).rev() {
            let affine = self.affine(subscript);
            let joined = affine.as_ref().and_then(|form| base.add_scaled(form, stride));
            match (affine, joined) {
                (Some(form), Some(joined)) => {
                    base = joined;
                    let range = affine::range(&form, self.extents);
                    if range.is_none_or(|range| range.low < 0 || range.high >= extent) {
                        checks.push((self.register(form), extent));
                    }
                }
                _ => dynamic.push((self.int(subscript)?, stride, extent)),
            }
            stride = stride.wrapping_mul(extent);
        }
        Ok(Address { tensor, base: self.register(base), checks, dynamic })
    }

    fn load(&mut self, tensor: ValueId, subscripts: &[Expr]) -> Lowered<(Storage, Box<Address>)> {
        let address = self.address(tensor, subscripts)?;
        Ok((self.storage(tensor), Box::new(address)))
    }

    fn int(&mut self, expr: &Expr) -> Lowered<Int> {
        if let Some(form) = self.affine(expr) {
            return Ok(match form.as_constant() {
                Some(value) => Int::Constant(value),
                None => Int::Register(self.register(form)),
            });
        }
        Ok(match &expr.node {
            Node::Literal(value) => Int::Constant(value.to_int()),
            Node::Index(_) => return Err(internal("an index does not exist")),
            Node::Extent(_) => return Err(internal("an extent is not resolved")),
            Node::Local(position) => Int::Local(*position),
            Node::Access { tensor, subscripts } => {
                let (storage, address) = self.load(*tensor, subscripts)?;
                Int::Load(storage, address)
            }
            Node::Table { items, index } => {
                Int::Table(items.iter().map(|i| i.to_int()).collect(), Box::new(self.int(index)?))
            }
            Node::Select { condition, then, otherwise } => {
                Int::Select(Box::new((self.bool(condition)?, self.int(then)?, self.int(otherwise)?)))
            }
            Node::Apply { op, operands } => match (op, operands.as_slice()) {
                (ScalarOp::ToInt, [a]) => match a.kind {
                    ScalarKind::Int => self.int(a)?,
                    ScalarKind::Real => Int::OfReal(Box::new(self.real(a)?)),
                    ScalarKind::Bool => Int::OfBool(Box::new(self.bool(a)?)),
                },
                (ScalarOp::Select, [c, a, b]) => {
                    Int::Select(Box::new((self.bool(c)?, self.int(a)?, self.int(b)?)))
                }
                (op, [a]) => {
                    let f = integer::unary(*op).ok_or_else(|| unexpected(*op))?;
                    Int::Unary(f, Box::new(self.int(a)?))
                }
                (op, [a, b]) => {
                    let f = integer::binary(*op).ok_or_else(|| unexpected(*op))?;
                    Int::Binary(f, Box::new((self.int(a)?, self.int(b)?)))
                }
                (op, _) => return Err(unexpected(*op)),
            },
        })
    }

    fn real(&mut self, expr: &Expr) -> Lowered<Real> {
        Ok(match &expr.node {
            Node::Literal(value) => Real::Constant(self.numbers.narrow(value.to_real())),
            Node::Index(_) | Node::Extent(_) => return Err(internal("an index is not a real")),
            Node::Local(position) => Real::Local(*position),
            Node::Access { tensor, subscripts } => {
                let (storage, address) = self.load(*tensor, subscripts)?;
                Real::Load(storage, address)
            }
            Node::Table { items, index } => Real::Table(
                items.iter().map(|i| self.numbers.narrow(i.to_real())).collect(),
                Box::new(self.int(index)?),
            ),
            Node::Select { condition, then, otherwise } => {
                Real::Select(Box::new((self.bool(condition)?, self.real(then)?, self.real(otherwise)?)))
            }
            Node::Apply { op, operands } => match (op, operands.as_slice()) {
                (ScalarOp::ToReal, [a]) => match a.kind {
                    ScalarKind::Real => self.real(a)?,
                    ScalarKind::Int => Real::OfInt(Box::new(self.int(a)?)),
                    ScalarKind::Bool => Real::OfBool(Box::new(self.bool(a)?)),
                },
                (ScalarOp::Select, [c, a, b]) => {
                    Real::Select(Box::new((self.bool(c)?, self.real(a)?, self.real(b)?)))
                }
                (op, [a]) => {
                    let f = real::unary(*op).ok_or_else(|| unexpected(*op))?;
                    Real::Unary(f, Box::new(self.real(a)?))
                }
                (op, [a, b]) => {
                    let pair = Box::new((self.real(a)?, self.real(b)?));
                    match op {
                        ScalarOp::Add => Real::Add(pair),
                        ScalarOp::Sub => Real::Sub(pair),
                        ScalarOp::Mul => Real::Mul(pair),
                        _ => Real::Binary(
                            real::binary_of(*op, self.numbers.real).ok_or_else(|| unexpected(*op))?,
                            pair,
                        ),
                    }
                }
                (op, _) => return Err(unexpected(*op)),
            },
        })
    }

    pub(super) fn bool(&mut self, expr: &Expr) -> Lowered<Bool> {
        Ok(match &expr.node {
            Node::Literal(value) => Bool::Constant(value.to_bool()),
            Node::Index(_) | Node::Extent(_) => return Err(internal("an index is not a bool")),
            Node::Local(position) => Bool::Local(*position),
            Node::Access { tensor, subscripts } => {
                let (storage, address) = self.load(*tensor, subscripts)?;
                Bool::Load(storage, address)
            }
            Node::Table { items, index } => {
                Bool::Table(items.iter().map(|i| Scalar::to_bool(*i)).collect(), Box::new(self.int(index)?))
            }
            Node::Select { condition, then, otherwise } => {
                Bool::Select(Box::new((self.bool(condition)?, self.bool(then)?, self.bool(otherwise)?)))
            }
            Node::Apply { op, operands } => self.condition(*op, operands)?,
        })
    }

    fn condition(&mut self, op: ScalarOp, operands: &[Expr]) -> Lowered<Bool> {
        Ok(match (op, operands) {
            (ScalarOp::ToBool, [a]) => match a.kind {
                ScalarKind::Bool => self.bool(a)?,
                ScalarKind::Int => Bool::OfInt(Box::new(self.int(a)?)),
                ScalarKind::Real => Bool::OfReal(Box::new(self.real(a)?)),
            },
            (ScalarOp::Select, [c, a, b]) => {
                Bool::Select(Box::new((self.bool(c)?, self.bool(a)?, self.bool(b)?)))
            }
            (ScalarOp::Not, [a]) => Bool::Not(Box::new(self.bool(a)?)),
            (ScalarOp::And, [a, b]) => Bool::And(Box::new((self.bool(a)?, self.bool(b)?))),
            (ScalarOp::Or, [a, b]) => Bool::Or(Box::new((self.bool(a)?, self.bool(b)?))),
            (ScalarOp::Implies, [a, b]) => Bool::Implies(Box::new((self.bool(a)?, self.bool(b)?))),
            (ScalarOp::Xor, [a, b]) => Bool::Bools(Relation::Ne, Box::new((self.bool(a)?, self.bool(b)?))),
            (_, [a, b]) => {
                let relation = relation(op).ok_or_else(|| unexpected(op))?;
                match a.kind.max(b.kind) {
                    ScalarKind::Int => Bool::Ints(relation, Box::new((self.int(a)?, self.int(b)?))),
                    ScalarKind::Real => Bool::Reals(relation, Box::new((self.real(a)?, self.real(b)?))),
                    ScalarKind::Bool => Bool::Bools(relation, Box::new((self.bool(a)?, self.bool(b)?))),
                }
            }
            _ => return Err(unexpected(op)),
        })
    }
}

fn relation(op: ScalarOp) -> Option<Relation> {
    Some(match op {
        ScalarOp::Lt => Relation::Lt,
        ScalarOp::Le => Relation::Le,
        ScalarOp::Gt => Relation::Gt,
        ScalarOp::Ge => Relation::Ge,
        ScalarOp::Eq => Relation::Eq,
        ScalarOp::Ne => Relation::Ne,
        _ => return None,
    })
}

fn unexpected(op: ScalarOp) -> EvalError {
    internal(format!("{} has operands of unsupported types", op.mnemonic()))
}
