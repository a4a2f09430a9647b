// SPDX-License-Identifier: Apache-2.0
//! Local tensors of `@lower`: the first formula of each one determines its type and shape.

use crate::ast::{Ident, LoopBound, Lowering};
use crate::check::access::{Access, INDEX_PER_DIMENSION};
use crate::check::checker::Checker;
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, codes};
use std::collections::BTreeSet;

/// Whether a formula is the first one of a local tensor.
pub(super) fn begins_local_tensor(checker: &Checker, lowering: &Lowering, locals: &BTreeSet<&str>) -> bool {
    let name = &lowering.target.name.name;
    lowering.target.item.is_none() && checker.scope.lookup(name).is_none() && locals.contains(name.as_str())
}

/// The type of the tensor that a formula defines, whose elements have the type of the value; `None` after errors.
pub(super) fn defined_tensor(checker: &mut Checker, lowering: &Lowering) -> Option<Type> {
    let target = &lowering.target;
    let name = &target.name.name;
    let indices = checker.indices(&target.subscripts);
    let Some(bounds) = lowering.bounds_of_target() else {
        let message = format!("the first formula of the local tensor `{name}` determines its shape");
        let help = format!(
            "write different index symbols between the brackets, whose bounds are the extents: `{name}[i,] = …, i < n`"
        );
        let diagnostic = Diagnostic::error(&codes::FORMULA_TARGET, target.span, message);
        checker.sink.report(diagnostic.with_help(help));
        return None;
    };
    if let Some(index) = bounds.into_iter().find_map(|bound| index_in(bound, lowering)) {
        let message = format!("an extent of the local tensor `{name}` depends on the index `{}`", index.name);
        let help = "the extents of a local tensor do not depend on its indices; use the largest bound and a condition";
        let diagnostic = Diagnostic::error(&codes::FORMULA_TARGET, index.span, message);
        checker.sink.report(diagnostic.with_help(help));
        return None;
    }
    let rank = indices.count.clone();
    let access = Access { span: target.span, name, trailing_comma: target.trailing_comma };
    checker.check_rank(&access, &rank, &indices, &target.subscripts, INDEX_PER_DIMENSION);
    let tensor = Tensor::Ranked(rank);
    Some(Type { base: Base::Unknown, pack: Pack::Single, optional: Optional::No, tensor })
}

/// The first index of the formula in one of its bounds. A bound does not see the indices after it, nor local values.
fn index_in<'l>(bound: &'l LoopBound, lowering: &'l Lowering) -> Option<&'l Ident> {
    let before = lowering.bounds.iter().take_while(|before| before.span != bound.span).map(|b| &b.name);
    let unrolled = lowering.unroll.iter().filter_map(|unroll| unroll.index.as_ref());
    let indices: Vec<&Ident> = before.chain(unrolled).collect();
    bound.bound.names().into_iter().find(|name| indices.iter().any(|index| index.name == name.name))
}
