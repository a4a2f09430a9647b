// SPDX-License-Identifier: Apache-2.0
//! Values of a payload as functions of bit k of integers.

use crate::elementwise::fold_integers::decide;
use crate::ir::generic::LoopNest;
use crate::ir::linalg::index_of;
use crate::ir::{self, Builder, Copier, ValueKey, ops, types};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_symbolic::Interval;
use std::collections::HashMap;
use std::rc::Rc;

/// An integer whose bit k is a condition in iteration k.
#[derive(Clone)]
pub(super) enum Word<'c, 'a> {
    /// An integer, divided by a power of two.
    Shifted(Value<'c, 'a>, i64),
    /// A condition that does not depend on k.
    Condition(Value<'c, 'a>),
    Constant(bool),
    /// A boolean function of two words: its values for (0, 0), (0, 1), (1, 0) and (1, 1). The number is that of functions in it.
    Function([bool; 4], usize, Rc<[Word<'c, 'a>; 2]>),
}

/// A value of the payload in iteration k.
#[derive(Clone)]
pub(super) enum Term<'c, 'a> {
    /// k plus a constant.
    Index(i64),
    /// 2 to the power of k plus a constant.
    Power(i64),
    /// An integer, divided by 2 to the power of k plus a constant.
    Quotient(Value<'c, 'a>, i64),
    /// Bit k of a word, as an integer or a condition.
    Bit(Word<'c, 'a>),
    /// Bit k of a word, multiplied by 2 to the power of k plus a constant.
    Weighted(Word<'c, 'a>, i64),
}

const AND: [bool; 4] = [false, false, false, true];
const OR: [bool; 4] = [false, true, true, true];
const XOR: [bool; 4] = [false, true, true, false];
const AND_NOT: [bool; 4] = [false, false, true, false];

/// Maximum number of values that are analyzed, and of functions in a word.
const MAX_OPERATIONS: usize = 64;

/// Whether a value is an index or a 64-bit integer.
pub(super) fn is_wide(value: Value) -> bool {
    let r#type = value.r#type();
    r#type.is_index() || r#type.is_integer() && types::bits(r#type) == Some(64)
}

/// Analyzes the values of a payload.
pub(super) struct Terms<'n, 'c, 'a> {
    nest: &'n LoopNest<'c, 'a>,
    bits: usize,
    /// The number of iterations.
    count: i64,
    known: HashMap<ValueKey, Option<Term<'c, 'a>>>,
    operations: usize,
}

impl<'n, 'c: 'a, 'a> Terms<'n, 'c, 'a> {
    pub(super) fn new(nest: &'n LoopNest<'c, 'a>, bits: usize, count: i64) -> Self {
        Terms { nest, bits, count, known: HashMap::new(), operations: 0 }
    }

    /// `None` for other values.
    pub(super) fn term(&mut self, value: Value<'c, 'a>) -> Option<Term<'c, 'a>> {
        let key = ValueKey::of(value);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        self.operations += 1;
        let depends = self.nest.loops_of(value).contains(&self.bits);
        let term = if self.operations > MAX_OPERATIONS {
            None
        } else if depends {
            ir::definition(value).and_then(|(op, _)| self.result(op))
        } else {
            invariant(value).map(Term::Bit)
        };
        self.known.insert(key, term.clone());
        term
    }

    fn result(&mut self, op: OperationRef<'c, 'a>) -> Option<Term<'c, 'a>> {
        if let Some(index) = index_of(op) {
            return (index == self.bits).then_some(Term::Index(0));
        }
        let operands: Vec<Value> = op.operands().collect();
        match (ir::name(op).as_str(), operands.as_slice()) {
            (ops::arith::INDEX_CAST, [x]) => {
                let is_lossless = is_wide(*x) && is_wide(op.result(0).ok()?.into());
                is_lossless.then(|| self.term(*x)).flatten()
            }
            (ops::arith::EXTUI, [x]) => Some(Term::Bit(self.bit(*x)?)),
            (ops::arith::ADDI, [x, y]) => match self.index(*x) {
                Some(k) => Some(Term::Index(k.checked_add(ir::integer(*y)?)?)),
                None => Some(Term::Index(self.index(*y)?.checked_add(ir::integer(*x)?)?)),
            },
            (ops::arith::SUBI, [x, y]) => Some(Term::Index(self.index(*x)?.checked_sub(ir::integer(*y)?)?)),
            (ops::arith::SHLI, [x, y]) => {
                let exponent = self.exponent(*y)?;
                if ir::integer(*x) == Some(1) {
                    return Some(Term::Power(exponent));
                }
                Some(Term::Weighted(self.bit(*x)?, exponent))
            }
            (ops::arith::SHRSI, [x, y]) => {
                let is_invariant = is_wide(*x) && !self.nest.loops_of(*x).contains(&self.bits);
                Some(Term::Quotient(*x, self.exponent(*y)?)).filter(|_| is_invariant)
            }
            (ops::arith::SELECT, [condition, x, y]) => self.selected(*condition, *x, *y),
            (ops::arith::CMPI, [x, y]) => {
                let table = comparison(ir::arith::predicate(op)?, is_wide(*x))?;
                Some(Term::Bit(self.function(table, *x, *y)?))
            }
            (ops::arith::ANDI, [x, y]) => match self.term(*x) {
                Some(Term::Quotient(word, offset)) if ir::integer(*y) == Some(1) => {
                    Some(Term::Bit(Word::Shifted(word, offset)))
                }
                _ => Some(Term::Bit(self.function(AND, *x, *y)?)),
            },
            (ops::arith::MULI, [x, y]) => match (self.term(*x)?, self.term(*y)?) {
                (Term::Power(k), Term::Bit(bit)) | (Term::Bit(bit), Term::Power(k)) => {
                    Some(Term::Weighted(bit, k))
                }
                _ => Some(Term::Bit(self.function(AND, *x, *y)?)),
            },
            // The condition `true` is less than `false`.
            (ops::arith::MINSI | ops::arith::MAXSI, [x, _]) if !is_wide(*x) => None,
            (ops::arith::MINSI, [x, y]) => Some(Term::Bit(self.function(AND, *x, *y)?)),
            (ops::arith::ORI | ops::arith::MAXSI, [x, y]) => Some(Term::Bit(self.function(OR, *x, *y)?)),
            (ops::arith::XORI, [x, y]) => Some(Term::Bit(self.function(XOR, *x, *y)?)),
            _ => None,
        }
    }

    /// `condition ? x : y`.
    fn selected(
        &mut self,
        condition: Value<'c, 'a>,
        x: Value<'c, 'a>,
        y: Value<'c, 'a>,
    ) -> Option<Term<'c, 'a>> {
        let condition = self.bit(condition)?;
        let (x, y) = (self.term(x)?, self.term(y)?);
        let weighted = |table: [bool; 4], value: Term<'c, 'a>| match value {
            Term::Power(k) => Some(Term::Weighted(apply(table, Word::Constant(true), condition.clone())?, k)),
            Term::Weighted(word, k) => Some(Term::Weighted(apply(table, word, condition.clone())?, k)),
            _ => None,
        };
        match (x, y) {
            (Term::Bit(x), Term::Bit(y)) => {
                let (then, otherwise) = (apply(AND, x, condition.clone())?, apply(AND_NOT, y, condition)?);
                Some(Term::Bit(apply(OR, then, otherwise)?))
            }
            (x, Term::Bit(Word::Constant(false))) => weighted(AND, x),
            (Term::Bit(Word::Constant(false)), y) => weighted(AND_NOT, y),
            _ => None,
        }
    }

    fn function(&mut self, table: [bool; 4], x: Value<'c, 'a>, y: Value<'c, 'a>) -> Option<Word<'c, 'a>> {
        apply(table, self.bit(x)?, self.bit(y)?)
    }

    fn bit(&mut self, value: Value<'c, 'a>) -> Option<Word<'c, 'a>> {
        match self.term(value)? {
            Term::Bit(word) => Some(word),
            _ => None,
        }
    }

    fn index(&mut self, value: Value<'c, 'a>) -> Option<i64> {
        match self.term(value)? {
            Term::Index(offset) => Some(offset),
            _ => None,
        }
    }

    /// The offset of an exponent that is k plus a constant, if a shift by it is defined in all iterations.
    fn exponent(&mut self, value: Value<'c, 'a>) -> Option<i64> {
        self.index(value).filter(|offset| *offset >= 0 && self.count - 1 + offset < i64::from(u64::BITS))
    }
}

impl<'c: 'a, 'a> Term<'c, 'a> {
    /// Whether the sum is computed by [`Term::sum`].
    pub(super) fn is_sum(&self) -> bool {
        matches!(self, Term::Bit(_) | Term::Weighted(..))
    }

    /// The values that the words are computed from.
    pub(super) fn values(&self) -> Vec<Value<'c, 'a>> {
        let mut values = Vec::new();
        if let Term::Bit(word) | Term::Weighted(word, _) = self {
            word.add_values(&mut values);
        }
        values
    }

    /// The sum of `count` iterations, with the type of `like`.
    pub(super) fn sum(
        &self,
        count: i64,
        copier: &Copier<'c, 'a>,
        at: &Builder<'c, 'a>,
        like: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let wide = types::int(at.context, 64);
        let (word, exponent) = match self {
            Term::Bit(word) => (word, None),
            Term::Weighted(word, exponent) => (word, Some(*exponent)),
            _ => return Err(Error::OperationBuild),
        };
        let bits = at.andi(word.emit(copier, at)?, at.int((1 << count) - 1, wide));
        let sum = match exponent {
            None => at.value(ops::math::CTPOP, &[bits], &[], wide)?,
            Some(0) => bits,
            Some(exponent) => at.shli(bits, at.int(exponent, wide)),
        };
        Ok(if like.r#type() == wide { sum } else { at.index_cast(sum, like.r#type()) })
    }
}

impl<'c: 'a, 'a> Word<'c, 'a> {
    fn add_values(&self, values: &mut Vec<Value<'c, 'a>>) {
        match self {
            Word::Shifted(value, _) | Word::Condition(value) => values.push(*value),
            Word::Constant(_) => {}
            Word::Function(_, _, operands) => operands.iter().for_each(|word| word.add_values(values)),
        }
    }

    fn emit(&self, copier: &Copier<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let wide = types::int(at.context, 64);
        let ones = || at.int(-1, wide);
        Ok(match self {
            Word::Shifted(value, exponent) => {
                let value = copier.get(*value);
                let value = if value.r#type() == wide { value } else { at.index_cast(value, wide) };
                if *exponent == 0 { value } else { at.shrsi(value, at.int(*exponent, wide)) }
            }
            Word::Condition(value) => at.select(copier.get(*value), ones(), at.int(0, wide)),
            Word::Constant(value) => at.int(-i64::from(*value), wide),
            Word::Function(table, _, operands) => {
                let [x, y] = &**operands;
                let (x, y) = (x.emit(copier, at)?, y.emit(copier, at)?);
                match *table {
                    AND => at.andi(x, y),
                    OR => at.ori(x, y),
                    XOR => at.xori(x, y),
                    _ => {
                        let mut result = at.int(0, wide);
                        for (number, _) in table.iter().enumerate().filter(|(_, holds)| **holds) {
                            let part = |word, is_set| if is_set { word } else { at.xori(word, ones()) };
                            let both = at.andi(part(x, number & 2 != 0), part(y, number & 1 != 0));
                            result = at.ori(result, both);
                        }
                        result
                    }
                }
            }
        })
    }
}

/// A boolean function of two words; `None` if it is too large.
fn apply<'c, 'a>(table: [bool; 4], x: Word<'c, 'a>, y: Word<'c, 'a>) -> Option<Word<'c, 'a>> {
    let size = |word: &Word| if let Word::Function(_, size, _) = word { *size } else { 0 };
    let size = size(&x) + size(&y) + 1;
    (size <= MAX_OPERATIONS).then(|| Word::Function(table, size, Rc::new([x, y])))
}

/// The word of a value that does not depend on k.
fn invariant<'c, 'a>(value: Value<'c, 'a>) -> Option<Word<'c, 'a>> {
    match ir::integer(value) {
        Some(0) => Some(Word::Constant(false)),
        Some(1 | -1) if types::bits(value.r#type()) == Some(1) => Some(Word::Constant(true)),
        Some(1) => Some(Word::Constant(true)),
        Some(_) => None,
        None => (types::bits(value.r#type()) == Some(1)).then_some(Word::Condition(value)),
    }
}

/// A comparison of two bits as a function. Conditions are only compared for equality, because `true` is less than `false`.
fn comparison(predicate: i64, is_integer: bool) -> Option<[bool; 4]> {
    use crate::ir::builder::arith::Integers;
    let is_equality = [Integers::Equal, Integers::NotEqual].map(|p| p as i64).contains(&predicate);
    let bit = |number: usize, bit: usize| Interval::point(i64::from(number & bit != 0));
    let mut table = [false; 4];
    for (number, holds) in table.iter_mut().enumerate() {
        *holds = decide(predicate, bit(number, 2), bit(number, 1)).filter(|_| is_integer || is_equality)?;
    }
    Some(table)
}
