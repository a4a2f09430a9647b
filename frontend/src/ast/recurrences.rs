// SPDX-License-Identifier: Apache-2.0
//! Formulas whose outputs advance together: step t of each one reads step t-1 of the others.

use rustc_hash::FxHashMap;

use super::{Lowering, LoweringOp, Subscript};

impl Lowering {
    /// The names that the formula reads.
    pub(super) fn names_read(&self) -> impl Iterator<Item = &str> {
        let locals = self.locals.iter().map(|(_, value)| value);
        let subscripts = self.target.subscripts.iter().flat_map(Subscript::exprs);
        let exprs = locals.chain([&self.value]).chain(&self.condition).chain(&self.target.item);
        exprs.chain(subscripts).flat_map(|expr| expr.names()).map(|name| name.name.as_str())
    }

    /// Whether both formulas replace elements and have the same index names.
    fn may_advance_with(&self, other: &Lowering) -> bool {
        let plain = |l: &Lowering| l.op == LoweringOp::Replace && l.unroll.is_none();
        let names = |l: &Lowering| l.bounds.iter().map(|b| b.name.name.clone()).collect::<Vec<_>>();
        plain(self) && plain(other) && names(self) == names(other)
    }
}

/// The formulas in order, in groups that advance together: consecutive `:=` formulas, one of which reads an output of a
/// later one. Other formulas are groups of one.
pub(crate) fn recurrences(lowers: &[Lowering]) -> Vec<&[Lowering]> {
    let runs = lowers.chunk_by(|first, next| first.may_advance_with(next));
    let mut groups = Vec::new();
    runs.for_each(|run| groups_of_run(run, &mut groups));
    groups
}

fn groups_of_run<'l>(run: &'l [Lowering], groups: &mut Vec<&'l [Lowering]>) {
    let names = run.iter().map(|lowering| lowering.target.name.name.as_str());
    let written: FxHashMap<&str, usize> = names.enumerate().map(|(at, name)| (name, at)).collect();
    let (mut begin, mut end) = (0, 1);
    for (at, lowering) in run.iter().enumerate() {
        end = lowering.names_read().filter_map(|name| Some(written.get(name)? + 1)).fold(end, usize::max);
        if at + 1 == end {
            groups.extend(run.get(begin..end));
            (begin, end) = (end, end + 1);
        }
    }
}
