// SPDX-License-Identifier: Apache-2.0
//! Helpers in `@input` (edition khronos): those that depend on attributes only are visible there.
//!
//! A use of such a helper is replaced by its expression, which users of the draft must write themselves. So neither the
//! checker nor the composer needs to know about them. The binding order stays that of the draft: a helper that depends
//! on shapes of inputs has no value yet, stays a name, and is reported as one.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{
    Declaration, Definition, Expr, ExprKind, Item, Module, PackSpec, StringPiece, Subscript, UsingTarget,
};

/// The maximum size of a helper's expression, including nested helpers: larger ones stay names.
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
        known.extend(length.into_iter().flat_map(|length| names(length).0));
    }
    let mut helpers = Helpers::default();
    for using in &definition.usings {
        let UsingTarget::Name(item) = &using.target else {
            continue;
        };
        let mut value = using.value.clone();
        expand(&mut value, &helpers);
        let (own, size) = names(&value);
        if size <= LARGEST && own.iter().all(|name| known.contains(name)) {
            helpers.entry(item.name.name.clone()).or_insert(value);
        }
    }
    helpers
}

/// The names in an expression, and its number of nodes.
fn names(expr: &Expr) -> (Vec<String>, usize) {
    let mut expr = expr.clone();
    let (mut names, mut size) = (Vec::new(), 0);
    visit(&mut expr, &mut |expr| {
        size += 1;
        match &expr.kind {
            ExprKind::Name(name) => names.push(name.name.clone()),
            ExprKind::Property { base, .. } => names.push(base.name.clone()),
            _ => {}
        }
    });
    (names, size)
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
    visit(expr, &mut |expr| {
        if let ExprKind::Name(name) = &expr.kind
            && let Some(value) = helpers.get(&name.name)
        {
            *expr = value.clone();
        }
    });
}

/// Calls `f` on an expression and all its subexpressions, in post-order.
fn visit(expr: &mut Expr, f: &mut impl FnMut(&mut Expr)) {
    match &mut expr.kind {
        ExprKind::Str(literal) => {
            for piece in &mut literal.pieces {
                if let StringPiece::Format(expr) = piece {
                    visit(expr, f);
                }
            }
        }
        ExprKind::List(items) => items.iter_mut().for_each(|item| visit_item(item, f)),
        ExprKind::Index { base, subscripts, .. } => {
            visit(base, f);
            subscripts.iter_mut().for_each(|s| visit_subscript(s, f));
        }
        ExprKind::Substitute { base, subscript, value } => {
            visit(base, f);
            visit_subscript(subscript, f);
            visit(value, f);
        }
        ExprKind::Unary { operand: only, .. }
        | ExprKind::NullTest(only)
        | ExprKind::Fold { pack: only, .. }
        | ExprKind::Cast { value: only, .. }
        | ExprKind::Builtin { argument: only, .. } => visit(only, f),
        ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Is { left: a, right: b }
        | ExprKind::Coalesce { value: a, fallback: b }
        | ExprKind::In { item: a, pack: b } => {
            visit(a, f);
            visit(b, f);
        }
        ExprKind::Select { condition, then, otherwise } => {
            visit(condition, f);
            visit(then, f);
            otherwise.iter_mut().for_each(|e| visit(e, f));
        }
        ExprKind::Guard { index, remap } => {
            visit(index, f);
            if let Some(ends) = remap {
                visit(&mut ends.0, f);
                visit(&mut ends.1, f);
            }
        }
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::Name(_)
        | ExprKind::Property { .. }
        | ExprKind::Default(_)
        | ExprKind::Error => {}
    }
    f(expr);
}

fn visit_item(item: &mut Item, f: &mut impl FnMut(&mut Expr)) {
    match item {
        Item::Expr(expr) => visit(expr, f),
        Item::Range { begin, end, stride, .. } => {
            [Some(begin), Some(end), stride.as_mut()].into_iter().flatten().for_each(|e| visit(e, f))
        }
        Item::Expand { value, count, .. } => {
            visit(value, f);
            count.iter_mut().for_each(|e| visit(e, f));
        }
        Item::Zip { packs, count, .. } => packs.iter_mut().chain(count).for_each(|e| visit(e, f)),
    }
}

fn visit_subscript(subscript: &mut Subscript, f: &mut impl FnMut(&mut Expr)) {
    match subscript {
        Subscript::Expr(expr) => visit(expr, f),
        Subscript::Range { begin, end, stride, .. } => {
            [begin, end, stride].into_iter().flatten().for_each(|e| visit(e, f))
        }
        Subscript::Expand { value, count, .. } => {
            visit(value, f);
            count.iter_mut().for_each(|e| visit(e, f));
        }
        Subscript::Guard { index, remap, .. } => {
            visit(index, f);
            if let Some((low, high)) = remap {
                visit(low, f);
                visit(high, f);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes_in, assert_fires_in, composed_in};
    use crate::diagnostics::Sink;
    use crate::diagnostics::codes::{ASSERTION_FAILED, NAME_NOT_VISIBLE};
    use crate::limits::Limits;
    use crate::program::Edition;
    use crate::source_files::load_text;

    /// An operator with these attributes, input and helpers; a condition is tested.
    fn document(input: &str, helpers: &str, condition: &str) -> String {
        format!(
            "operator f {{ @attrib {{ format: str = 'NXC'; k: int = 2; p: int..(l) = [3, 5]; }} \
             @input {{ x: real[{input}]; }} @using {{ {helpers} }} @assert {{ {condition}; }} \
             @output {{ y: real[1]; }} @lower {{ y[i,] = 0.0, i < 1; }} }} \
             graph G {{ @input {{ x: real[2,3,5]; }} @output {{ y: real[1]; }} @compose {{ y = f(x); }} }}"
        )
    }

    /// The codes of all diagnostics of a check in an edition.
    fn reported(text: &str, edition: Edition) -> Vec<&'static str> {
        let mut sink = Sink::default();
        let limits = Limits::default();
        let file = std::path::Path::new("main.sknd");
        let program = load_text(text, file, Some(edition), &limits, &mut sink);
        crate::check::check_program(&program, &mut sink);
        sink.into_sorted().iter().map(|d| d.code.id).collect()
    }

    fn assert_holds(input: &str, helpers: &str, condition: &str) {
        let text = document(input, helpers, condition);
        assert!(reported(&text, Edition::Khronos).is_empty(), "{text}");
        assert_composes_in(Edition::Khronos, &text);
        let wrong = document(input, helpers, &format!("!({condition})"));
        assert_fires_in(Edition::Khronos, &ASSERTION_FAILED, &wrong);
    }

    #[test]
    fn editions_inputs_see_helpers_that_rest_on_attributes() {
        let channels = "ncx = format == 'NCX';";
        assert_holds("b,c..(ncx),s..,c..(!ncx)", channels, "b == 2 && c == 5 && s == [3]");
        assert_holds("n,m,m + k - h", "h = k - 2;", "n == 2 && m == 3");
        assert_holds("b,q..", "q = p;", "q == p && l == 2");
        assert_holds("s..(r),t..", "g = k - 1; r = g + 1;", "(s == [2, 3] && ..) && (t == [5] && ..)");
        assert_holds("a..(r),b", "r = p[0] > 2 ? 2 : 0;", "a == [2, 3] && b == 5");
    }

    #[test]
    fn editions_a_helper_in_an_input_must_agree_with_the_shape() {
        let text = document("k,n,last", "last = k + 4;", "true");
        assert!(composed_in(Edition::Khronos, &text).is_err());
    }

    #[test]
    fn editions_other_helpers_are_not_visible_in_inputs() {
        let not_visible = [NAME_NOT_VISIBLE.id];
        for (input, helpers) in
            [("b,m,z", "z = b + 1;"), ("b,m,z", "w = x.rank; z = w + 2;"), ("b,m,z", "z = w; w = 5;")]
        {
            let text = document(input, helpers, "true");
            let found = reported(&text, Edition::Khronos);
            assert!(found.contains(&NAME_NOT_VISIBLE.id), "{helpers}: {found:?}");
        }
        let text = document("b,c..(ncx),s..,c..(!ncx)", "ncx = format == 'NCX';", "true");
        let found = reported(&text, Edition::Draft6);
        assert!(found.contains(&not_visible[0]), "{found:?}");
    }

    #[test]
    fn editions_an_error_in_such_a_helper_is_reported_once() {
        let text = document("b,m,z", "z = k + 'a';", "true");
        assert_eq!(reported(&text, Edition::Khronos), ["SK0401"]);
    }

    #[test]
    fn editions_helpers_that_double_stay_small() {
        let mut helpers = "h0 = k;".to_string();
        for i in 0..60 {
            helpers += &format!(" h{} = h{i} + h{i};", i + 1);
        }
        let text = document("b,m,h60", &helpers, "true");
        assert!(reported(&text, Edition::Khronos).contains(&NAME_NOT_VISIBLE.id));
    }
}
