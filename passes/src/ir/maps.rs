// SPDX-License-Identifier: Apache-2.0
//! Converts affine maps and integer sets to affine forms, and back.

use melior::Context;
use melior::ir::attribute::AttributeLike;
use melior::ir::{AffineExpr, AffineMap, Attribute};
use mlir_sys::{mlirAffineMapAttrGetValue, mlirAttributeIsAAffineMap};
use skript_symbolic::Affine;

/// The results of an `affine_map<…>` as affine forms of its dimensions. `None` for divisions, remainders and symbols.
pub(crate) fn forms(attribute: Attribute<'_>) -> Option<Vec<Affine>> {
    let forms = divided_forms(attribute, &[])?;
    let is_linear = |form: &Affine| form.as_linear().is_some();
    forms.iter().all(is_linear).then_some(forms)
}

/// Like [`forms`], but supports floor divisions by constants. `extents` are the upper bounds of the dimensions.
pub(crate) fn divided_forms(attribute: Attribute<'_>, extents: &[i64]) -> Option<Vec<Affine>> {
    forms_with(attribute, extents, false)
}

/// Like [`divided_forms`], but supports remainders of divisions by constants too.
pub(crate) fn divided_forms_and_remainders(attribute: Attribute<'_>, extents: &[i64]) -> Option<Vec<Affine>> {
    forms_with(attribute, extents, true)
}

fn forms_with(attribute: Attribute<'_>, extents: &[i64], remainders: bool) -> Option<Vec<Affine>> {
    let map = map_in(attribute)?;
    let dimensions = |position| Some(Affine::index(position));
    let reading = Reading { dimensions: &dimensions, symbols: &|_| None, extents, remainders };
    (0..map.result_count()).map(|result| reading.form(map.result(result).ok()?)).collect()
}

/// For each result of a map, the dimension that it consists of, or `None` for other expressions.
pub(crate) fn indices(attribute: Attribute<'_>) -> Vec<Option<usize>> {
    let Some(map) = map_in(attribute) else {
        return Vec::new();
    };
    let results = (0..map.result_count()).map(|result| map.result(result).ok());
    results
        .map(|result| result.filter(AffineExpr::is_dim))
        .map(|result| result.map(|e| e.dim_position()))
        .collect()
}

/// The only result of a map as an affine form of loops. `arguments` has the loop of each dimension, then of each symbol.
pub(crate) fn applied(attribute: Attribute<'_>, arguments: &[usize], extents: &[i64]) -> Option<Affine> {
    let map = map_in(attribute)?;
    let count = map.dim_count();
    let argument = |position: usize| arguments.get(position).copied().map(Affine::index);
    let reading = Reading {
        dimensions: &argument,
        symbols: &|position| argument(count + position),
        extents,
        remainders: false,
    };
    match map.result_count() {
        1 => reading.form(map.result(0).ok()?),
        _ => None,
    }
}

fn map_in(attribute: Attribute<'_>) -> Option<AffineMap<'_>> {
    // SAFETY: the attribute lives as long as its context; its kind is checked first.
    unsafe {
        mlirAttributeIsAAffineMap(attribute.to_raw())
            .then(|| AffineMap::from_raw(mlirAffineMapAttrGetValue(attribute.to_raw())))
    }
}

/// Converts expressions of a map to forms.
struct Reading<'r> {
    dimensions: &'r dyn Fn(usize) -> Option<Affine>,
    symbols: &'r dyn Fn(usize) -> Option<Affine>,
    /// The extents of the indices of the forms.
    extents: &'r [i64],
    /// Whether remainders are supported.
    remainders: bool,
}

impl Reading<'_> {
    fn form(&self, expression: AffineExpr<'_>) -> Option<Affine> {
        if expression.is_constant() {
            return Some(Affine::constant(expression.constant_value()));
        }
        if expression.is_dim() {
            return (self.dimensions)(expression.dim_position());
        }
        if expression.is_symbol() {
            return (self.symbols)(expression.symbol_position());
        }
        if !expression.is_binary() {
            return None;
        }
        let left = self.form(expression.lhs())?;
        let right = self.form(expression.rhs())?;
        if expression.is_add() {
            return left.add(&right);
        }
        if expression.is_mul() {
            return left.linear_product(&right);
        }
        let divisor = right.as_constant().filter(|divisor| *divisor > 0)?;
        if expression.is_mod() && self.remainders {
            return left.modulo(divisor, self.extents);
        }
        if expression.is_floor_div() { left.floor_div(divisor, self.extents) } else { None }
    }
}

/// `affine_map<(d0, …) -> (forms)>` with `dimensions` dimensions. `None` only if MLIR rejects the text.
pub(crate) fn map<'c>(context: &'c Context, dimensions: usize, forms: &[Affine]) -> Option<Attribute<'c>> {
    map_of(context, 0..dimensions, forms)
}

/// The identity map.
pub(crate) fn identity(context: &Context, dimensions: usize) -> Attribute<'_> {
    let forms: Vec<Affine> = (0..dimensions).map(Affine::index).collect();
    map(context, dimensions, &forms).unwrap_or_else(|| unreachable!("internal compiler error: no map"))
}

/// Like [`map`], where the indices `dimensions` of the forms are the dimensions of the map, in this order.
pub(crate) fn map_of<'c>(
    context: &'c Context,
    dimensions: impl IntoIterator<Item = usize>,
    forms: &[Affine],
) -> Option<Attribute<'c>> {
    let results: Vec<String> = forms.iter().map(ToString::to_string).collect();
    Attribute::parse(context, &format!("affine_map<({}) -> ({})>", names(dimensions), results.join(", ")))
}

/// `affine_set<(d0, …) : (form >= 0, …)>`, where the indices `dimensions` of the forms are the dimensions of the set, in this order.
pub(crate) fn set_of<'c>(
    context: &'c Context,
    dimensions: impl IntoIterator<Item = usize>,
    constraints: &[Affine],
) -> Option<Attribute<'c>> {
    let constraints: Vec<String> = constraints.iter().map(|c| format!("{c} >= 0")).collect();
    Attribute::parse(context, &format!("affine_set<({}) : ({})>", names(dimensions), constraints.join(", ")))
}

fn names(dimensions: impl IntoIterator<Item = usize>) -> String {
    let names: Vec<String> = dimensions.into_iter().map(|d| format!("d{d}")).collect();
    names.join(", ")
}

/// The predicate `sge` of `arith.cmpi`.
pub(crate) const SIGNED_AT_LEAST: i64 = 5;
