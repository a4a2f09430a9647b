// SPDX-License-Identifier: Apache-2.0
//! Local tensors of `@lower`: targets of formulas that are not outputs, and that other formulas read.

use std::collections::BTreeSet;

use super::{Definition, ExprKind, LoopBound, Lowering, Subscript};

impl Definition {
    /// The names of the local tensors: targets that no block declares.
    pub fn local_tensors(&self) -> BTreeSet<&str> {
        let declarations = self.attributes.iter().chain(&self.inputs).chain(&self.constants);
        let declarations = declarations.chain(&self.variables).chain(&self.outputs).map(|d| &d.name);
        let helpers = self.usings.iter().flat_map(|using| using.target.names());
        let declared = declarations.chain(helpers).chain(self.dtypes.iter().map(|ty| &ty.name));
        let declared: BTreeSet<&str> = declared.map(|name| name.name.as_str()).collect();
        let mut read = BTreeSet::new();
        for lowering in &self.lowers {
            read.extend(lowering.names_read().filter(|name| *name != lowering.target.name.name));
        }
        let targets = self.lowers.iter().map(|lowering| lowering.target.name.name.as_str());
        targets.filter(|name| !declared.contains(name) && read.contains(name)).collect()
    }
}

impl Lowering {
    /// The bounds that are the extents of the target, if its indices are different index symbols.
    pub(crate) fn bounds_of_target(&self) -> Option<Vec<&LoopBound>> {
        let mut bounds: Vec<&LoopBound> = Vec::with_capacity(self.target.subscripts.len());
        for subscript in &self.target.subscripts {
            let (Subscript::Expr(index) | Subscript::Expand { value: index, count: None, .. }) = subscript
            else {
                return None;
            };
            let ExprKind::Name(name) = &index.kind else {
                return None;
            };
            let bound = self.bounds.iter().find(|bound| bound.name.name == name.name)?;
            if bounds.iter().any(|other| other.name.name == name.name) {
                return None;
            }
            bounds.push(bound);
        }
        Some(bounds)
    }
}
