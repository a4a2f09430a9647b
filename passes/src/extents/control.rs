// SPDX-License-Identifier: Apache-2.0
//! Padding of calls, branches and loops: dynamic extents are passed as indices after the tensors.

use super::padding::Padding;
use crate::facts::end;
use crate::ir::Builder;
use crate::ir::blocks;
use crate::ir::copy::{arguments, with_attributes};
use crate::ir::ops;
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Region, Value};
use skript_dialect::melior;

impl<'c: 'a, 'a> Padding<'_, 'c, 'a> {
    pub(super) fn call(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        results: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let callee = self.bounds.callee(op).ok_or(Error::OperationBuild)?;
        let body = blocks(callee).first().copied();
        let parameters = arguments(body.ok_or(Error::OperationBuild)?);
        let passed = self.pass(operands, &parameters, to)?;
        self.rebuild(op, &passed, results, Vec::new(), to)
    }

    pub(super) fn branch(
        &mut self,
        op: OperationRef<'c, 'a>,
        results: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let mut regions = Vec::new();
        for block in blocks(op) {
            let (region, inner, _) = to.region(&[]);
            self.body(block, &inner)?;
            let passed = self.pass(&end(block), results, &inner)?;
            inner.create(ops::scf::YIELD, &passed, &[], &[], Vec::new())?;
            regions.push(region);
        }
        // The second region of a branch without results may be absent.
        while regions.len() < 2 {
            regions.push(Region::new());
        }
        let condition: Vec<_> = op.operands().map(|o| self.get(o)).collect();
        self.rebuild(op, &condition, results, regions, to)
    }

    pub(super) fn repeat(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        results: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let blocks = blocks(op);
        let [before, after] = blocks.as_slice() else {
            return Err(Error::OperationBuild);
        };
        let state = arguments(*before);
        let carried = arguments(*after);
        let started = self.pass(operands, &state, to)?;

        let (test_region, test, new) = to.region(&self.types(&state, to));
        self.set_all(&state, &new);
        self.body(*before, &test)?;
        let passed = end(*before);
        let (condition, passed) = passed.split_first().ok_or(Error::OperationBuild)?;
        let mut forwarded = vec![self.get(*condition)];
        forwarded.extend(self.pass(passed, &carried, &test)?);
        test.create(ops::scf::CONDITION, &forwarded, &[], &[], Vec::new())?;

        let (body_region, body, new) = to.region(&self.types(&carried, to));
        self.set_all(&carried, &new);
        self.body(*after, &body)?;
        let next = self.pass(&end(*after), &state, &body)?;
        body.create(ops::scf::YIELD, &next, &[], &[], Vec::new())?;

        self.rebuild(op, &started, results, vec![test_region, body_region], to)
    }

    /// Rebuilds the operation with other operands and regions. Its results are padded tensors, followed by their dynamic
    /// extents.
    fn rebuild(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        results: &[Value<'c, 'a>],
        regions: Vec<Region<'c>>,
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let types = self.types(results, to);
        let rebuilt = with_attributes(op, operands, &types, regions, &[], to)?;
        let padded: Vec<_> = rebuilt.results().map(Into::into).collect();
        self.set_all(results, &padded);
        Ok(())
    }
}
