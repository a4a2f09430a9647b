//! Affine maps and integer sets from affine forms.

use crate::structure::Affine;
use melior::Context;
use melior::ir::Attribute;

/// `affine_map<(d0, …) -> (forms)>` over this many dimensions. `None` only if MLIR refuses the text.
pub fn map<'c>(context: &'c Context, dimensions: usize, forms: &[Affine]) -> Option<Attribute<'c>> {
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

/// `affine_set<(d0, …) : (form >= 0, …)>`.
pub fn set<'c>(
    context: &'c Context,
    dimensions: usize,
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

fn names(dimensions: usize) -> String {
    let names: Vec<String> = (0..dimensions).map(|d| format!("d{d}")).collect();
    names.join(", ")
}

/// `sge` of `arith.cmpi`.
pub const SIGNED_AT_LEAST: i64 = 5;

/// The predicate attribute of `arith.cmpi` or `arith.cmpf`.
pub fn integer_predicate(context: &Context, code: i64) -> Attribute<'_> {
    super::attributes::i64(context, code)
}
