// SPDX-License-Identifier: Apache-2.0
//! The name at a position: a declared name, an operator, an attribute of an operator, a module.

use crate::analysis::Analysis;
use skript_frontend::ast::{
    AttributeAssignment, Component, ComponentValue, Declaration, Definition, Expr, ExprKind, Ident,
    Invocation, Module, Path,
};
use skript_frontend::source::Span;
use skript_frontend::syntax::token::{TokenKind, path, scan};
use std::collections::HashSet;

/// A name that a definition declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub name: String,
    /// The kind of the name: `input`, `attribute`, …
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
pub(crate) enum Entity<'a> {
    Declared { definition: &'a Definition, declared: Declared },
    Operator { module: &'a Module, definition: &'a Definition },
    Attribute { operator: &'a Definition, declared: Declared },
    Module(&'a Module),
}

/// The dotted path that ends with the word at an offset, and the end of that word.
pub(crate) fn words_at(text: &str, offset: usize) -> Option<(Vec<&str>, usize)> {
    let tokens = scan(text);
    let (before, _) = tokens.split_at(tokens.partition_point(|t| t.start < offset));
    let (before, last) = match (tokens.get(before.len()), before) {
        (_, [.., last]) if last.kind == TokenKind::Word && last.end >= offset => (before, last),
        (Some(next), _) if next.kind == TokenKind::Word && next.start == offset => {
            (tokens.get(..=before.len())?, next)
        }
        _ => return None,
    };
    Some((path(text, before)?.split('.').collect(), last.end))
}

fn holds(span: Span, offset: usize) -> bool {
    span.start as usize <= offset && offset <= span.end as usize
}

/// The definition that contains an offset.
pub(crate) fn definition_at(module: &Module, offset: usize) -> Option<&Definition> {
    module.definitions.iter().find(|d| holds(d.span, offset))
}

impl<'a> Entity<'a> {
    /// The entity at an offset of a module's text.
    pub(crate) fn at_offset(
        analysis: &'a Analysis,
        key: &str,
        module: &'a Module,
        offset: usize,
    ) -> Option<Self> {
        let text = analysis.text(module.file);
        let (words, end) = words_at(text, offset)?;
        let name = *words.last()?;
        let rest = text.split_at(end).1;
        let module_named = |path: &str| Some(Entity::Module(analysis.program.resolve(key, path)?.1));
        if let Some(import) = module.imports.iter().find(|i| holds(i.span, offset)) {
            return module_named(&import.path.text());
        }
        let path = words.join(".");
        // A path before another dot refers to the module that contains the operator.
        if words.len() > 1 || rest.starts_with('.') && !rest.starts_with("..") {
            let operator = operator(analysis, key, module, &path).filter(|_| words.len() > 1);
            if let Some(entity) = operator.or_else(|| module_named(&path)) {
                return Some(entity);
            }
        }
        let definition = definition_at(module, offset)?;
        if holds(definition.name.span, offset) {
            return Some(Entity::Operator { module, definition });
        }
        if let Some((path, _)) = assignment_at(definition, offset)
            && let Some(Entity::Operator { definition, .. }) = operator(analysis, key, module, &path.text())
        {
            let declared = declarations("attribute", &definition.attributes).find(|d| d.name == name);
            return declared.map(|declared| Entity::Attribute { operator: definition, declared });
        }
        let of_operator = || operator(analysis, key, module, name);
        let invoked = matches!(rest.trim_start().chars().next(), Some('(' | '{' | '<'));
        if invoked && let Some(entity) = of_operator() {
            return Some(entity);
        }
        let declared = declared_in(definition).into_iter().find(|d| d.name == name);
        declared.map_or_else(of_operator, |declared| Some(Entity::Declared { definition, declared }))
    }
}

/// The operator that a dotted path names in a module.
pub(crate) fn operator<'a>(
    analysis: &'a Analysis,
    key: &str,
    module: &'a Module,
    path: &str,
) -> Option<Entity<'a>> {
    let (module, name) = match path.rsplit_once('.') {
        Some((prefix, name)) => (analysis.program.resolve(key, prefix)?.1, name),
        None => (module, path),
    };
    let definition = module.definitions.iter().find(|d| d.name.name == name)?;
    Some(Entity::Operator { module, definition })
}

/// The distinct names that a definition declares, in textual order.
pub(crate) fn declared_in(definition: &Definition) -> Vec<Declared> {
    let mut declared = Vec::new();
    declared.extend(definition.dtypes.iter().map(|t| Declared::new("type", &t.name, t.span)));
    declared.extend(declarations("attribute", &definition.attributes));
    declared.extend(declarations("input", &definition.inputs));
    declared.extend(declarations("constant", &definition.constants));
    declared.extend(declarations("variable", &definition.variables));
    declared.extend(declarations("output", &definition.outputs));
    for using in &definition.usings {
        declared.extend(using.target.names().map(|n| Declared::new("helper", n, using.span)));
    }
    for component in definition.composes.iter().chain(&definition.updates) {
        of_component(component, &mut declared);
    }
    let local_tensors = definition.local_tensors();
    for lowering in &definition.lowers {
        let target = &lowering.target;
        if local_tensors.contains(target.name.name.as_str()) {
            declared.push(Declared::new("local tensor", &target.name, target.span));
        }
        declared.extend(
            lowering.locals.iter().map(|(n, value)| Declared::new("local", n, n.span.to(value.span))),
        );
        declared.extend(lowering.bounds.iter().map(|b| Declared::new("index", &b.name, b.span)));
    }
    for declaration in definition.inputs.iter().chain(&definition.attributes) {
        symbols(declaration, &mut declared);
    }
    // Declarations precede symbols of the same name: the first occurrence of such a symbol is not its declaration.
    declared.sort_by_key(|d| (d.role == "symbol", d.span));
    let mut seen = HashSet::new();
    declared.retain(|d| seen.insert(d.name.clone()));
    declared.sort_by_key(|d| d.span);
    declared
}

/// Adds the names of extents, lengths and ranks.
fn symbols(declaration: &Declaration, declared: &mut Vec<Declared>) {
    let spec = &declaration.type_spec;
    let mut exprs: Vec<Option<&Expr>> = vec![spec.rank.as_ref()];
    exprs.push(spec.pack.as_ref().and_then(|p| p.length.as_ref()));
    for extent in spec.shape.iter().flatten() {
        exprs.push(extent.extent.as_ref());
        exprs.push(extent.pack.as_ref().and_then(|p| p.length.as_ref()));
    }
    for expr in exprs.into_iter().flatten() {
        if let ExprKind::Name(name) = &expr.kind {
            declared.push(Declared::new("symbol", name, declaration.span));
        }
    }
}

fn declarations(role: &'static str, list: &[Declaration]) -> impl Iterator<Item = Declared> {
    list.iter().map(move |d| Declared::new(role, &d.name, d.span))
}

fn of_component(component: &Component, declared: &mut Vec<Declared>) {
    declared.extend(component.names().map(|n| Declared::new("tensor", n, component.span)));
    for value in component.value.nested() {
        match value {
            ComponentValue::Block(block) => {
                let names = block.components.iter().flat_map(|c| c.names().map(|n| (n, c.span)));
                declared.extend(names.map(|(name, span)| Declared::new("tensor", name, span)));
            }
            ComponentValue::Loop(looping) => {
                declared
                    .extend(looping.carried.iter().map(|c| Declared::new("carried tensor", &c.name, c.span)));
                declared.extend(looping.scans.iter().map(|s| Declared::new("scanned item", &s.item, s.span)));
            }
            _ => {}
        }
    }
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
    let components = definition.composes.iter().chain(&definition.updates);
    components.flat_map(|component| component.value.invocations()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_extend_back_over_single_dots() {
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
