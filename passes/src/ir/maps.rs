// SPDX-License-Identifier: Apache-2.0
//! Affine maps and integer sets from affine forms, and back.

use melior::Context;
use melior::ir::attribute::AttributeLike;
use melior::ir::{AffineExpr, AffineMap, Attribute};
use mlir_sys::{mlirAffineMapAttrGetValue, mlirAttributeIsAAffineMap};
use skript_symbolic::Affine;

/// The results of an `affine_map<…>` attribute as forms of its dimensions; `None` for divisions, remainders, symbols.
pub(crate) fn forms(attribute: Attribute<'_>) -> Option<Vec<Affine>> {
    // SAFETY: the attribute is alive as long as its context; it is asked for its kind first.
    let map = unsafe {
        mlirAttributeIsAAffineMap(attribute.to_raw())
            .then(|| AffineMap::from_raw(mlirAffineMapAttrGetValue(attribute.to_raw())))?
    };
    (0..map.result_count())
        .map(|result| form(map.result(result).ok()?))
        .collect()
}

fn form(expression: AffineExpr<'_>) -> Option<Affine> {
    if expression.is_constant() {
        return Some(Affine::constant(expression.constant_value()));
    }
    if expression.is_dim() {
        return Some(Affine::index(expression.dim_position()));
    }
    if expression.is_add() {
        return form(expression.lhs())?.add(&form(expression.rhs())?);
    }
    if expression.is_mul() {
        return form(expression.lhs())?.linear_product(&form(expression.rhs())?);
    }
    None
}

/// `affine_map<(d0, …) -> (forms)>` over this many dimensions. `None` only if MLIR refuses the text.
pub(crate) fn map<'c>(
    context: &'c Context,
    dimensions: usize,
    forms: &[Affine],
) -> Option<Attribute<'c>> {
    map_of(context, 0..dimensions, forms)
}

/// The same over the dimensions of these positions: the first is the first one's, and so on.
pub(crate) fn map_of<'c>(
    context: &'c Context,
    dimensions: impl IntoIterator<Item = usize>,
    forms: &[Affine],
) -> Option<Attribute<'c>> {
    let results: Vec<String> = forms.iter().map(ToString::to_string).collect();
    Attribute::parse(
        context,
        &format!(
            "affine_map<({}) -> ({})>",
            names(dimensions),
            results.join(", ")
        ),
    )
}

/// `affine_set<(d0, …) : (form >= 0, …)>`, over the dimensions of these positions.
pub(crate) fn set_of<'c>(
    context: &'c Context,
    dimensions: impl IntoIterator<Item = usize>,
    constraints: &[Affine],
) -> Option<Attribute<'c>> {
    let constraints: Vec<String> = constraints.iter().map(|c| format!("{c} >= 0")).collect();
    Attribute::parse(
        context,
        &format!(
            "affine_set<({}) : ({})>",
            names(dimensions),
            constraints.join(", ")
        ),
    )
}

fn names(dimensions: impl IntoIterator<Item = usize>) -> String {
    let names: Vec<String> = dimensions.into_iter().map(|d| format!("d{d}")).collect();
    names.join(", ")
}

/// `sge` of `arith.cmpi`.
pub(crate) const SIGNED_AT_LEAST: i64 = 5;

/// The predicate attribute of `arith.cmpi` or `arith.cmpf`.
pub(crate) fn integer_predicate(context: &Context, code: i64) -> Attribute<'_> {
    super::attributes::i64(context, code)
}
