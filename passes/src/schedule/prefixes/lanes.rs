// SPDX-License-Identifier: Apache-2.0
//! Emits prefixes along contiguous elements with vectors: a vector of terms is scanned in log₂ steps, each of which combines it with
//! itself, shifted by twice as many lanes. One combination with the last total completes the vector.
//!
//! Each element combines the same terms in the same order, but in another grouping, so the combination must be exact.

use super::Prefixes;
use crate::ir::generic::Operand;
use crate::ir::linalg::index_of;
use crate::ir::{Builder, Copier, attribute_names, attributes, ops, scf, types, vector};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{melior, op};
use skript_symbolic::Affine;

/// The bytes of a vector.
const BYTES: i64 = 64;
/// Minimum number of vectors of a row.
const MIN_VECTORS: i64 = 4;

/// The vectors of the rows.
pub(super) struct Lanes<'c, 'a> {
    count: i64,
    /// The vectors of a row.
    vectors: i64,
    /// The operations that compute a term.
    needed: Vec<OperationRef<'c, 'a>>,
    /// The operands that terms read, and the buffers of those that vary along the row.
    reads: Vec<(Operand<'c, 'a>, Option<Value<'c, 'a>>)>,
}

impl Lanes<'_, '_> {
    /// The number of elements of a row in vectors.
    pub(super) fn elements(&self) -> i64 {
        self.vectors * self.count
    }
}

impl<'c: 'a, 'a> Prefixes<'c, 'a> {
    /// The vectors of rows of contiguous elements. `None` if the combination rounds, or if a term has no vector form. Emits the
    /// buffers that the vectors are loaded from; `number` is unique in the function.
    pub(super) fn lanes(&self, number: i64, at: &Builder<'c, 'a>) -> Result<Option<Lanes<'c, 'a>>, Error> {
        let Some(mut lanes) = self.planned() else {
            return Ok(None);
        };
        for (operand, buffer) in &mut lanes.reads {
            if operand.varies(self.reduction) {
                let kind = types::memref(&operand.shape, types::element_or_self(operand.value.r#type()));
                let reader = (attribute_names::READER, attributes::i64(at.context, number));
                let flags = [("read_only", attributes::unit(at.context)), reader];
                *buffer = Some(at.value(ops::bufferization::TO_BUFFER, &[operand.value], &flags, kind)?);
            }
        }
        Ok(Some(lanes))
    }

    fn planned(&self) -> Option<Lanes<'c, 'a>> {
        let output = self.nest.output()?;
        let element = output.element.r#type();
        let count = vector::lanes(BYTES, element)?;
        let vectors = self.nest.extent(self.end)? / count;
        let is_contiguous = output.indices()?.last() == Some(&self.end);
        if vectors < MIN_VECTORS || !is_contiguous || self.combine.rounds(element) || !self.starts_uniformly()
        {
            return None;
        }
        let needed = self.nest.needed([self.term], &[]);
        let is_mapped = |op: &OperationRef<'c, 'a>| {
            let is_position = index_of(*op).is_some_and(|l| l != self.reduction);
            is_position || op.region_count() == 0 && op.result_count() == 1 && op::has_elementwise_trait(op)
        };
        let is_used = |operand: &&Operand<'c, 'a>| {
            operand.element == self.term
                || needed.iter().any(|op| op.operands().any(|value| value == operand.element))
        };
        let reads: Vec<Operand> = self.nest.inputs().iter().filter(is_used).cloned().collect();
        let is_read = |operand: &Operand| {
            let Some((last, others)) = operand.forms.split_last() else {
                return true;
            };
            let is_row = last.sub(&Affine::index(self.reduction)).and_then(|rest| rest.as_constant());
            let varies = |form: &Affine| form.indices().contains(&self.reduction);
            !others.iter().any(varies) && (is_row.is_some() || !varies(last))
        };
        let is_vector = needed.iter().all(is_mapped) && reads.iter().all(is_read);
        let operands = reads.into_iter().map(|operand| (operand, None)).collect();
        is_vector.then_some(Lanes { count, vectors, needed, reads: operands })
    }

    /// Emits the vectors of a row; returns the total after them.
    pub(super) fn row_of_vectors(
        &self,
        lanes: &Lanes<'c, 'a>,
        row: &[(usize, Value<'c, 'a>)],
        start: Value<'c, 'a>,
        [elements, result]: [Value<'c, 'a>; 2],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let bounds = [0, lanes.elements(), lanes.count].map(|bound| at.idx(bound));
        scf::fold(at, bounds, start, |inside, step, before| {
            // The first element of the vector.
            let first = if self.is_reversed {
                inside.subi(elements, inside.addi(step, inside.idx(lanes.count)))
            } else {
                step
            };
            let number = inside.addi(first, inside.idx(self.offset));
            let terms = self.terms(lanes, row, number, inside)?;
            let scanned = self.scanned(terms, lanes.count, inside);
            let total = self.combined(inside.broadcast(before, lanes.count), scanned, inside);
            let place = self.place(row, first)?;
            inside.store_vector(total, result, &place, None);
            Ok(inside.extract(total, if self.is_reversed { 0 } else { lanes.count - 1 }))
        })
    }

    /// The reductions of all prefixes, or suffixes, of a vector.
    fn scanned(&self, terms: Value<'c, 'a>, count: i64, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        let element = vector::element_or_self(terms.r#type());
        let neutral = at.broadcast(at.literal(self.combine.neutral(element)), count);
        let mut scanned = terms;
        let mut shift = 1;
        while shift < count {
            let lane = |lane: i64| {
                let source = if self.is_reversed { lane + shift } else { lane - shift };
                // A lane of the second operand.
                if (0..count).contains(&source) { source } else { count }
            };
            let mask: Vec<i64> = (0..count).map(lane).collect();
            let shifted = at.shuffle(scanned, neutral, &mask);
            scanned = self.combined(shifted, scanned, at);
            shift *= 2;
        }
        scanned
    }

    /// The vector of terms from `number` on.
    fn terms(
        &self,
        lanes: &Lanes<'c, 'a>,
        row: &[(usize, Value<'c, 'a>)],
        number: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let loops: Vec<(usize, Value)> = row.iter().copied().chain([(self.reduction, number)]).collect();
        let mut copier = Copier::new();
        for (operand, buffer) in &lanes.reads {
            let value = match buffer {
                Some(buffer) => {
                    let kind = vector::of(&[lanes.count], operand.element.r#type());
                    at.load_vector(*buffer, &self.subscripts(operand, &loops, at)?, kind, None)
                }
                None => self.read(operand, &loops, at)?,
            };
            copier.set(operand.element, value);
        }
        for op in &lanes.needed {
            match index_of(*op) {
                Some(l) => copier.set(op.result(0)?, super::emit::value_of(&loops, l, at)),
                None => copier.copy_lanes(*op, lanes.count, at)?,
            }
        }
        Ok(at.widened(copier.get(self.term), lanes.count))
    }
}
