// SPDX-License-Identifier: Apache-2.0
//! Accesses of `linalg.generic`, by indexing maps.

use super::Verifier;
use super::arrays::Array;
use crate::ir::linalg::{Generic, index_of};
use crate::ir::{self, ValueKey, maps};
use crate::structure::Affine;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::{PassError, melior};
use skript_symbolic::Polynomial;

impl<'c: 'a, 'a> Verifier<'_, 'c, 'a> {
    pub(super) fn generic(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let Some(generic) = Generic::cast(op) else {
            return Ok(());
        };
        let mark = self.prover.mark();
        let accesses = self.accesses(generic);
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
            for inner in ir::operations(body) {
                let index = index_of(inner).and_then(|l| indices.get(l).cloned().flatten());
                if let (Some(index), Ok(result)) = (index, inner.result(0)) {
                    self.numbers.insert(ValueKey::of(result), index);
                }
            }
            self.block(body)?;
        }
        self.prover.rollback(mark);
        Ok(())
    }

    /// Returns the arrays with affine subscripts, each with its subscripts.
    fn accesses(&self, generic: Generic<'c, 'a>) -> Vec<(Array, Vec<Affine>)> {
        let op = generic.op();
        let accesses = op.operands().zip(generic.indexing_maps());
        accesses
            .filter_map(|(operand, map)| {
                let array = self.arrays.get(&ValueKey::of(operand)).cloned()?;
                Some((array, maps::forms(map)?))
            })
            .collect()
    }

    /// Returns the index of each loop. The extent of a loop is the extent of a dimension whose subscript is the loop index itself.
    fn indices(&mut self, accesses: &[(Array, Vec<Affine>)], loops: usize) -> Vec<Option<Polynomial>> {
        let (zero, one) = (Polynomial::constant(0), Polynomial::constant(1));
        let extent = |l: usize| {
            let mut all = accesses.iter().flat_map(|(array, forms)| {
                forms.iter().zip(&array.extents).filter(|(form, _)| form.as_index() == Some(l))
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

/// Converts a subscript to a polynomial of loop indices; `None` if one of the indices is not modelled.
fn subscript(form: &Affine, indices: &[Option<Polynomial>]) -> Option<Polynomial> {
    let first = Polynomial::constant(form.offset());
    let mut terms = form.as_linear()?.into_iter().map(|(l, factor)| indices.get(l)?.as_ref()?.scale(factor));
    terms.try_fold(first, |sum, term| sum.add(&term?))
}
