// SPDX-License-Identifier: Apache-2.0
//! Accesses of `linalg.generic`: each operand by its indexing map.

use super::Walk;
use super::arrays::Array;
use crate::ir::linalg::{Generic, index_of};
use crate::ir::{self, ValueKey, maps};
use crate::structure::Affine;
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::{PassError, melior};
use skript_symbolic::Polynomial;

impl<'c: 'a, 'a> Walk<'_, 'c, 'a> {
    pub(super) fn generic(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let Some(generic) = Generic::cast(op) else {
            return Ok(());
        };
        let mark = self.prover.mark();
        let accesses = self.accesses(op, generic);
        let indices = self.indices(&accesses, generic.reductions().len());
        for (array, forms) in &accesses {
            let subscripts = forms.iter().map(|form| subscript(form, &indices));
            let subscripts: Option<Vec<Polynomial>> = subscripts.collect();
            let address = subscripts.and_then(|subscripts| array.address(&subscripts));
            if let Some(address) = address {
                self.prove(op, array, &address, &address)?;
            }
        }
        if let Some(body) = generic.body() {
            for own in ir::operations(body) {
                let index = index_of(own).and_then(|l| indices.get(l).cloned().flatten());
                if let (Some(index), Ok(result)) = (index, own.result(0)) {
                    self.numbers.insert(ValueKey::of(result), index);
                }
            }
            self.block(body)?;
        }
        self.prover.rollback(mark);
        Ok(())
    }

    /// The arrays with linear subscripts, and these subscripts.
    fn accesses(&self, op: OperationRef<'c, 'a>, generic: Generic<'c, 'a>) -> Vec<(Array, Vec<Affine>)> {
        let operands: Vec<Value> = op.operands().collect();
        let accesses = operands.into_iter().zip(generic.indexing_maps());
        accesses
            .filter_map(|(operand, map)| {
                let array = self.arrays.get(&ValueKey::of(operand)).cloned()?;
                Some((array, maps::forms(map)?))
            })
            .collect()
    }

    /// The index of each loop, whose extent is that of a dimension that it alone subscripts.
    fn indices(&mut self, accesses: &[(Array, Vec<Affine>)], loops: usize) -> Vec<Option<Polynomial>> {
        let (zero, one) = (Polynomial::constant(0), Polynomial::constant(1));
        let extent = |l: usize| {
            let mut all = accesses.iter().flat_map(|(array, forms)| {
                let own = forms.iter().zip(&array.extents);
                own.filter(|(form, _)| form.as_index() == Some(l))
            });
            all.next().map(|(_, extent)| extent.clone())
        };
        let extents: Vec<Option<Polynomial>> = (0..loops).map(extent).collect();
        let indices = extents.into_iter().map(|extent| {
            let extent = extent?;
            Some(self.index(&zero, &extent, &one))
        });
        indices.collect()
    }
}

/// A subscript by the indices of loops; `None` if one of them is not known.
fn subscript(form: &Affine, indices: &[Option<Polynomial>]) -> Option<Polynomial> {
    let first = Polynomial::constant(form.offset());
    let terms = form.as_linear()?.into_iter();
    let mut terms = terms.map(|(l, factor)| indices.get(l)?.as_ref()?.scale(factor));
    terms.try_fold(first, |sum, term| sum.add(&term?))
}
