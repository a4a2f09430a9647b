// SPDX-License-Identifier: Apache-2.0
//! Formulas whose outputs advance together: step t of each one reads step t-1 of the others.

use rustc_hash::FxHashMap;

use super::{Definition, Lowering, LoweringOp, Subscript};

impl Lowering {
    /// The names that the formula reads.
    pub(crate) fn names_read(&self) -> impl Iterator<Item = &str> {
        let locals = self.locals.iter().map(|(_, value)| value);
        let subscripts = self.target.subscripts.iter().flat_map(Subscript::exprs);
        let exprs = locals.chain([&self.value]).chain(&self.condition).chain(&self.target.item);
        exprs.chain(subscripts).flat_map(|expr| expr.names()).map(|name| name.name.as_str())
    }
}

impl Definition {
    /// The formulas in order, in groups that advance together: consecutive `:=` formulas, one of which reads an output of
    /// a later one. Other formulas are groups of one.
    pub(crate) fn recurrences(&self) -> Vec<&[Lowering]> {
        let runs = self.lowers.chunk_by(|first, next| {
            let names = |l: &Lowering| l.bounds.iter().map(|b| b.name.name.clone()).collect::<Vec<_>>();
            self.may_advance(first) && self.may_advance(next) && names(first) == names(next)
        });
        let mut groups = Vec::new();
        runs.for_each(|run| groups_of_run(run, &mut groups));
        groups
    }

    /// Whether a formula replaces elements of a single tensor. Items of packs have separate formulas, which are computed
    /// one after the other.
    fn may_advance(&self, lowering: &Lowering) -> bool {
        let name = &lowering.target.name.name;
        let is_pack = self.outputs.iter().any(|o| o.name.name == *name && o.type_spec.pack.is_some());
        lowering.op == LoweringOp::Replace && lowering.unroll.is_none() && !is_pack
    }
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
