// SPDX-License-Identifier: Apache-2.0
//! The name at a position: a declared name, an operator, an attribute of one, a module.

use crate::analysis::Analysis;
use skript_frontend::ast::{
    AttributeAssignment, Component, ComponentValue, Declaration, Definition, Expr, ExprKind, Ident,
    Invocation, Loop, Module, Path, Target, TargetItem, UsingListItem, UsingTarget,
};
use skript_frontend::source::Span;
use std::collections::HashSet;

/// A name that a definition declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub name: String,
    /// Its kind: `input`, `attribute`, …
    pub(crate) role: &'static str,
    /// The span of the name in the declaration.
    pub(crate) span: Span,
    /// The span of the declaration.
    pub whole: Span,
}

impl Declared {
    fn new(role: &'static str, name: &Ident, whole: Span) -> Self {
        Declared { name: name.name.clone(), role, span: name.span, whole }
    }
}

/// The entity at a position.
pub(crate) enum Found<'a> {
    Declared { definition: &'a Definition, declared: Declared },
    Operator { module: &'a Module, definition: &'a Definition },
    Attribute { operator: &'a Definition, declared: Declared },
    Module(&'a Module),
}

/// The dotted path that ends with the word at an offset, and the end of that word.
pub(crate) fn words_at(text: &str, offset: usize) -> Option<(Vec<&str>, usize)> {
    let is_word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let bytes = text.as_bytes();
    let at = |n: usize| bytes.get(n).copied().unwrap_or(b' ');
    let before = |n: usize| n.checked_sub(1).map_or(b' ', at);
    let (mut start, mut end) = (offset.min(bytes.len()), offset.min(bytes.len()));
    while is_word(at(end)) {
        end += 1;
    }
    while is_word(before(start)) {
        start -= 1;
    }
    if start == end {
        return None;
    }
    // A dot belongs to the path if it follows a word; `..` does not.
    while before(start) == b'.' && is_word(before(start - 1)) {
        start -= 1;
        while is_word(before(start)) {
            start -= 1;
        }
    }
    Some((text.get(start..end)?.split('.').collect(), end))
}

fn holds(span: Span, offset: usize) -> bool {
    span.start as usize <= offset && offset <= span.end as usize
}

/// The definition that contains an offset.
pub(crate) fn definition_at(module: &Module, offset: usize) -> Option<&Definition> {
    module.definitions.iter().find(|d| holds(d.span, offset))
}

impl<'a> Found<'a> {
    /// The entity at an offset of a module's text.
    pub(crate) fn at(analysis: &'a Analysis, key: &str, module: &'a Module, offset: usize) -> Option<Self> {
        let text = analysis.text(module.file);
        let (words, end) = words_at(text, offset)?;
        let name = *words.last()?;
        let rest = text.get(end..).unwrap_or_default();
        let module_named = |path: &str| Some(Found::Module(analysis.program.resolve(key, path)?.1));
        if let Some(import) = module.imports.iter().find(|i| holds(i.span, offset)) {
            return module_named(&import.path.text());
        }
        let path = words.join(".");
        // Before another dot: a module that contains the operator.
        if words.len() > 1 || rest.starts_with('.') && !rest.starts_with("..") {
            let operator = operator(analysis, key, module, &path).filter(|_| words.len() > 1);
            if let Some(found) = operator.or_else(|| module_named(&path)) {
                return Some(found);
            }
        }
        let definition = definition_at(module, offset)?;
        if holds(definition.name.span, offset) {
            return Some(Found::Operator { module, definition });
        }
        if let Some((path, _)) = assignment_at(definition, offset)
            && let Some(Found::Operator { definition, .. }) = operator(analysis, key, module, &path.text())
        {
            let declared = declarations("attribute", &definition.attributes).find(|d| d.name == name);
            return declared.map(|declared| Found::Attribute { operator: definition, declared });
        }
        let of_operator = || operator(analysis, key, module, name);
        let invoked = matches!(rest.trim_start().chars().next(), Some('(' | '{' | '<'));
        if invoked && let Some(found) = of_operator() {
            return Some(found);
        }
        let declared = declared_in(definition).into_iter().find(|d| d.name == name);
        declared.map_or_else(of_operator, |declared| Some(Found::Declared { definition, declared }))
    }
}

/// The operator that a dotted path names in a module.
pub(crate) fn operator<'a>(
    analysis: &'a Analysis,
    key: &str,
    module: &'a Module,
    path: &str,
) -> Option<Found<'a>> {
    let (module, name) = match path.rsplit_once('.') {
        Some((prefix, name)) => (analysis.program.resolve(key, prefix)?.1, name),
        None => (module, path),
    };
    let definition = module.definitions.iter().find(|d| d.name.name == name)?;
    Some(Found::Operator { module, definition })
}

/// Every name that a definition declares, once, in textual order.
pub(crate) fn declared_in(definition: &Definition) -> Vec<Declared> {
    let mut found = Vec::new();
    found.extend(definition.dtypes.iter().map(|t| Declared::new("type", &t.name, t.span)));
    found.extend(declarations("attribute", &definition.attributes));
    found.extend(declarations("input", &definition.inputs));
    found.extend(declarations("constant", &definition.constants));
    found.extend(declarations("variable", &definition.variables));
    found.extend(declarations("output", &definition.outputs));
    for using in &definition.usings {
        let names: Vec<&Ident> = match &using.target {
            UsingTarget::Name(item) => vec![&item.name],
            UsingTarget::List(items) => {
                let names = items.iter().flat_map(|item| match item {
                    UsingListItem::Item(item) => std::slice::from_ref(&item.name),
                    UsingListItem::Zip { names, .. } => names,
                    UsingListItem::Omitted(_) => &[],
                });
                names.collect()
            }
        };
        found.extend(names.iter().map(|n| Declared::new("helper", n, using.span)));
    }
    for component in definition.composes.iter().chain(&definition.updates) {
        of_component(component, &mut found);
    }
    for lowering in &definition.lowers {
        found.extend(
            lowering.locals.iter().map(|(n, value)| Declared::new("local", n, n.span.to(value.span))),
        );
        found.extend(lowering.bounds.iter().map(|b| Declared::new("index", &b.name, b.span)));
    }
    for declaration in definition.inputs.iter().chain(&definition.attributes) {
        symbols(declaration, &mut found);
    }
    // Declarations come before symbols of the same name, whose first occurrence is then not a declaration.
    found.sort_by_key(|d| (d.role == "symbol", d.span));
    let mut seen = HashSet::new();
    found.retain(|d| seen.insert(d.name.clone()));
    found.sort_by_key(|d| d.span);
    found
}

/// Names of extents, lengths and ranks.
fn symbols(declaration: &Declaration, found: &mut Vec<Declared>) {
    let spec = &declaration.type_spec;
    let mut locations: Vec<Option<&Expr>> = vec![spec.rank.as_ref()];
    locations.push(spec.pack.as_ref().and_then(|p| p.length.as_ref()));
    for extent in spec.shape.iter().flatten() {
        locations.push(extent.extent.as_ref());
        locations.push(extent.pack.as_ref().and_then(|p| p.length.as_ref()));
    }
    for location in locations.into_iter().flatten() {
        if let ExprKind::Name(name) = &location.kind {
            found.push(Declared::new("symbol", name, declaration.span));
        }
    }
}

fn declarations(role: &'static str, list: &[Declaration]) -> impl Iterator<Item = Declared> {
    list.iter().map(move |d| Declared::new(role, &d.name, d.span))
}

fn of_component(component: &Component, found: &mut Vec<Declared>) {
    for target in &component.targets {
        let items = match target {
            Target::Item(item) => std::slice::from_ref(item),
            Target::List { items, .. } => items,
        };
        let names = items.iter().flat_map(|item| match item {
            TargetItem::Name { name, .. } => std::slice::from_ref(name),
            TargetItem::Zip { names, .. } => names,
            TargetItem::Omitted(_) => &[],
        });
        found.extend(names.map(|n| Declared::new("tensor", n, component.span)));
    }
    each_value(&component.value, &mut |value| match value {
        ComponentValue::Block(block) => {
            for inner in &block.components {
                of_component(inner, found);
            }
        }
        ComponentValue::Loop(looping) => {
            found.extend(looping.carried.iter().map(|c| Declared::new("carried tensor", &c.name, c.span)));
            found.extend(looping.scans.iter().map(|s| Declared::new("scanned item", &s.item, s.span)));
        }
        _ => {}
    });
}

/// The value and its subexpressions; the visitor handles components of blocks.
fn each_value<'a>(value: &'a ComponentValue, visit: &mut dyn FnMut(&'a ComponentValue)) {
    visit(value);
    match value {
        ComponentValue::If(branching) => {
            for (condition, consequent) in &branching.arms {
                each_value(condition, visit);
                each_value(consequent, visit);
            }
            each_value(&branching.otherwise, visit);
        }
        ComponentValue::Loop(looping) => {
            for part in parts(looping) {
                each_value(part, visit);
            }
        }
        ComponentValue::Invocation(_)
        | ComponentValue::Expr(_)
        | ComponentValue::Block(_)
        | ComponentValue::Error(_) => {}
    }
}

fn parts(looping: &Loop) -> impl Iterator<Item = &ComponentValue> {
    let ends = looping.before.iter().chain(&looping.after);
    ends.chain(std::iter::once(&looping.body))
}

/// The attribute whose value is at an offset, with the path of its operator.
fn assignment_at(definition: &Definition, offset: usize) -> Option<(&Path, &AttributeAssignment)> {
    let invocations = invocations(definition);
    let of_invocations = invocations.iter().map(|i| (&i.operator, &i.attributes));
    let of_quantizations = definition.quantizations.iter().map(|q| (&q.operator, &q.attributes));
    let mut all = of_invocations
        .chain(of_quantizations)
        .flat_map(|(operator, attributes)| attributes.iter().map(move |a| (operator, a)));
    all.find(|(_, attribute)| holds(attribute.name.span, offset))
}

/// All invocations of a definition.
fn invocations(definition: &Definition) -> Vec<&Invocation> {
    let mut found = Vec::new();
    let mut pending: Vec<&Component> = definition.composes.iter().chain(&definition.updates).collect();
    while let Some(component) = pending.pop() {
        each_value(&component.value, &mut |value| match value {
            ComponentValue::Invocation(invocation) => found.push(invocation),
            ComponentValue::Block(block) => pending.extend(&block.components),
            _ => {}
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_back_over_dots_and_no_further() {
        let text = "y = nn.conv{stride=2}(x.., a)";
        let at = |needle: &str| text.find(needle).unwrap();
        let words = |offset| words_at(text, offset).map(|(words, _)| words);
        assert_eq!(words(at("conv")), Some(vec!["nn", "conv"]));
        assert_eq!(words(at("nn")), Some(vec!["nn"]));
        assert_eq!(words(at("x..")), Some(vec!["x"]));
        assert_eq!(words(at("x..") + 1), Some(vec!["x"]));
        assert_eq!(words(at(" = ") + 1), None);
        assert!(words_at("", 0).is_none());
        assert_eq!(words_at("..a", 3).unwrap().0, ["a"]);
        assert_eq!(words_at(".a", 2).unwrap().0, ["a"]);
    }
}
