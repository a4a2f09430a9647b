// SPDX-License-Identifier: Apache-2.0
//! Helpers in `@input` (edition khronos): those that depend on attributes only are visible there.
//!
//! A use of such a helper is replaced by its expression, which users of the draft must write themselves, so the checker
//! and the composer do not handle helpers in inputs. The binding order is that of the draft: a helper that depends on
//! shapes of inputs has no value yet, so it is not replaced, and its name is reported.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Declaration, Definition, Expr, ExprKind, Module, PackSpec, Target, TargetItem};

/// The maximum size of a helper's expression, including nested helpers; larger helpers are not replaced.
const LARGEST: usize = 1 << 8;

type Helpers = FxHashMap<String, Expr>;

/// Replaces helpers by their expressions in the inputs of all definitions.
pub(crate) fn expand_input_helpers(module: &mut Module) {
    for definition in &mut module.definitions {
        let helpers = attribute_helpers(definition);
        if helpers.is_empty() {
            continue;
        }
        for input in &mut definition.inputs {
            expand_declaration(input, &helpers);
        }
    }
}

/// Helpers that depend only on attributes, the names in their lengths, and each other.
fn attribute_helpers(definition: &Definition) -> Helpers {
    let mut known: FxHashSet<String> = FxHashSet::default();
    for attribute in &definition.attributes {
        known.insert(attribute.name.name.clone());
        let length = attribute.type_spec.pack.as_ref().and_then(|p| p.length.as_ref());
        known.extend(length.into_iter().flat_map(Expr::names).map(|name| name.name.clone()));
    }
    let mut helpers = Helpers::default();
    for using in &definition.usings {
        let Target::Item(TargetItem::Name { name, .. }) = &using.target else {
            continue;
        };
        let mut value = using.value.clone();
        expand(&mut value, &helpers);
        if size(&value) <= LARGEST && value.names().iter().all(|used| known.contains(&used.name)) {
            helpers.entry(name.name.clone()).or_insert(value);
        }
    }
    helpers
}

/// The number of nodes of an expression.
fn size(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(size).sum::<usize>()
}

fn expand_declaration(input: &mut Declaration, helpers: &Helpers) {
    let spec = &mut input.type_spec;
    let pack = |pack: &mut Option<PackSpec>| {
        if let Some(pack) = pack {
            let parts = [&mut pack.length, &mut pack.bound];
            parts.into_iter().flatten().for_each(|e| expand(e, helpers));
        }
    };
    spec.rank.iter_mut().for_each(|e| expand(e, helpers));
    pack(&mut spec.pack);
    for extent in spec.shape.iter_mut().flatten() {
        let parts = [&mut extent.extent, &mut extent.bound];
        parts.into_iter().flatten().for_each(|e| expand(e, helpers));
        pack(&mut extent.pack);
    }
    input.default.iter_mut().for_each(|e| expand(e, helpers));
}

fn expand(expr: &mut Expr, helpers: &Helpers) {
    expr.children_mut().into_iter().for_each(|child| expand(child, helpers));
    if let ExprKind::Name(name) = &expr.kind
        && let Some(value) = helpers.get(&name.name)
    {
        *expr = value.clone();
    }
}
