// SPDX-License-Identifier: Apache-2.0
//! Tables of the reals that one or two bytes determine, such as 16-bit floats: the payload computes each once.

use super::scales::Scales;
use super::sources::Sources;
use super::text::Text;
use crate::ir::copy::Copier;
use crate::ir::generic::{self, Access, LoopNest, all_loops};
use crate::ir::{self, Builder, ops, types};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};

/// A value of a payload that one or two bytes determine.
#[derive(Clone)]
pub(super) struct Table<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    value: Value<'c, 'a>,
    /// The operations that compute the value, in order.
    needed: Vec<OperationRef<'c, 'a>>,
    /// The operands with the bytes, the lowest digit of the position in the table first.
    leaves: Vec<usize>,
    /// Equal for tables with equal elements.
    pub(super) key: String,
}

/// The tables and scales of a kernel.
#[derive(Default)]
pub(super) struct Tables<'c, 'a> {
    pub(super) list: Vec<Table<'c, 'a>>,
    pub(super) scales: Scales<'c, 'a>,
}

impl<'c: 'a, 'a> Tables<'c, 'a> {
    /// The number of a table, which is added unless an equal one is in the list.
    pub(super) fn number(&mut self, table: Table<'c, 'a>) -> usize {
        let known = self.list.iter().position(|other| other.key == table.key);
        known.unwrap_or_else(|| {
            self.list.push(table);
            self.list.len() - 1
        })
    }
}

/// The minimum number of scalar operations, so that a load is faster.
const MIN_WORK: usize = 6;

/// The maximum number of bytes that determine a value.
const MAX_BYTES: usize = 2;

impl<'c: 'a, 'a> Table<'c, 'a> {
    /// The table of a value, and the operands whose bytes determine it; `None` if computing the value is faster.
    pub(super) fn new(
        nest: &LoopNest<'c, 'a>,
        value: Value<'c, 'a>,
        sources: &Sources<'c, 'a>,
    ) -> Option<(Self, Vec<usize>)> {
        if !value.r#type().is_f32() {
            return None;
        }
        let needed = nest.needed([value], &[]);
        let is_math = |op: &OperationRef| ir::name(*op).starts_with("math.");
        if needed.len() < MIN_WORK && !needed.iter().any(is_math) {
            return None;
        }
        let is_used =
            |element: Value| needed.iter().any(|op| op.operands().any(|operand| operand == element));
        let leaves: Vec<usize> = (0..nest.inputs).filter(|n| is_used(nest.operands[*n].element)).collect();
        let is_byte = |n: &usize| is_byte(nest.operands[*n].value, sources);
        if !(1..=MAX_BYTES).contains(&leaves.len()) || !leaves.iter().all(is_byte) {
            return None;
        }
        let key = key(nest, &needed, &leaves)?;
        Some((Table { nest: nest.clone(), value, needed, leaves: leaves.clone(), key }, leaves))
    }

    /// The type of the array.
    pub(super) fn kind(&self) -> melior::ir::Type<'c> {
        types::memref(&[1 << (8 * ir::signed(self.leaves.len()))], self.value.r#type())
    }

    /// Computes the table.
    pub(super) fn emit(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let table = at.alloc(self.kind(), &[]);
        generic::generic(at, &[], &[Access(table, all_loops(1))], &[false], |body, _| {
            let position = body.loop_index(0)?;
            let mut copier = Copier::new();
            for (n, leaf) in self.leaves.iter().enumerate() {
                let byte = body.shrui(position, body.idx(8 * ir::signed(n)));
                let sign = body.idx(128);
                let byte = body.subi(body.xori(body.andi(byte, body.idx(255)), sign), sign);
                let element = self.nest.operands[*leaf].element;
                copier.set(element, body.index_cast(byte, element.r#type()));
            }
            copier.copy_all(&self.needed, body)?;
            Ok::<_, Error>(vec![copier.get(self.value)])
        })?;
        Ok(table)
    }
}

/// Whether the elements of an array are bytes, or bytes that a map converts to wider integers.
fn is_byte<'c: 'a, 'a>(array: Value<'c, 'a>, sources: &Sources<'c, 'a>) -> bool {
    match sources.map(array) {
        None => types::bits(types::element_or_self(array.r#type())) == Some(8),
        Some(nest) => {
            let is_cast = |op: &OperationRef| {
                [ops::arith::EXTSI, ops::arith::INDEX_CAST].contains(&ir::name(*op).as_str())
            };
            let is_integer = nest.yielded.first().is_some_and(|value| !value.r#type().is_float());
            let mut read = nest.inputs().iter().filter(|input| input.is_read());
            let one = read.next().filter(|_| read.next().is_none());
            is_integer
                && nest.payload.iter().all(is_cast)
                && one.is_some_and(|one| is_byte(one.value, sources))
        }
    }
}

/// The operations as text; `None` for operations that do not only depend on the bytes.
fn key<'c: 'a, 'a>(
    nest: &LoopNest<'c, 'a>,
    needed: &[OperationRef<'c, 'a>],
    leaves: &[usize],
) -> Option<String> {
    let mut text = Text::default();
    for leaf in leaves {
        text.number(nest.operands.get(*leaf)?.element);
    }
    let is_scalar = |op: &OperationRef<'c, 'a>| {
        let name = ir::name(*op);
        let is_pure = name.starts_with("arith.") || name.starts_with("math.");
        let is_global = |array: Value<'c, 'a>| {
            ir::definition(array).is_some_and(|(op, _)| ir::name(op) == ops::memref::GET_GLOBAL)
        };
        is_pure || name == ops::memref::LOAD && ir::operand_at(*op, 0).is_some_and(is_global)
    };
    needed.iter().all(is_scalar).then(|| text.operations(needed))??;
    Some(format!("{} bytes{}", leaves.len(), text.text))
}
