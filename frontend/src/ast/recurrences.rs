// SPDX-License-Identifier: Apache-2.0
//! Formulas whose outputs advance together: step t of each one reads step t-1 of the others.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Definition, Lowering, LoweringOp, Subscript};

impl Lowering {
    /// The names that the formula reads.
    pub(crate) fn names_read(&self) -> impl Iterator<Item = &str> {
        let locals = self.locals.iter().map(|(_, value)| value);
        let subscripts = self.target.subscripts.iter().flat_map(Subscript::exprs);
        let exprs = locals.chain([&self.value]).chain(&self.condition).chain(&self.target.item);
        exprs.chain(subscripts).flat_map(|expr| expr.names()).map(|name| name.name.as_str())
    }

    /// The names of its indices.
    fn indices(&self) -> impl Iterator<Item = &str> {
        self.bounds.iter().map(|bound| bound.name.name.as_str())
    }
}

impl Definition {
    /// The formulas in order, in groups that advance together: consecutive `:=` formulas, one of which reads an output of
    /// a later one. Other formulas are groups of one.
    pub(crate) fn recurrences(&self) -> Vec<&[Lowering]> {
        // Items of packs have separate formulas, which are computed one after the other.
        let packs = self.outputs.iter().filter(|output| output.type_spec.pack.is_some());
        let packs: FxHashSet<&str> = packs.map(|output| output.name.name.as_str()).collect();
        let may_advance = |lowering: &Lowering| {
            lowering.op == LoweringOp::Replace
                && lowering.unroll.is_none()
                && !packs.contains(lowering.target.name.name.as_str())
        };
        let runs = self.lowers.chunk_by(|first, next| {
            may_advance(first) && may_advance(next) && first.indices().eq(next.indices())
        });
        let mut groups = Vec::new();
        runs.for_each(|run| groups_of_run(run, &mut groups));
        groups
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
