// SPDX-License-Identifier: Apache-2.0
//! Slices and concatenations of packs of dynamic length: `xs[1:]`, `[x, xs.., z]` (2.4). They are converted to tensors where
//! tensors are expected.

pub(super) mod ranges;

use crate::eval::demand::Demand;
use crate::eval::series::binary;
use crate::eval::value::{Atom, TensorRef};
use crate::model::Expr;
use skript_semantics::ScalarOp;

/// Consecutive parts, and their run-time checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DynamicPack {
    pub parts: Vec<PackPart>,
    pub(crate) demands: Vec<Demand>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PackPart {
    /// A tensor, or an item of a pack of dynamic length.
    One(Atom),
    Pack(TensorRef, PackSlice),
}

/// An arithmetic sequence of `length` positions in a pack of dynamic length: `from`, `from + step` and so on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PackSlice {
    pub from: Expr,
    pub step: i64,
    pub length: Expr,
}

impl PackSlice {
    pub(crate) fn at(&self, index: &Expr) -> Option<Expr> {
        let steps = binary(ScalarOp::Mul, Expr::int(self.step), index.clone())?;
        binary(ScalarOp::Add, self.from.clone(), steps)
    }
}
