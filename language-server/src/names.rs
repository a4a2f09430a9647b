// SPDX-License-Identifier: Apache-2.0
//! The name at a position: a declared name, an operator, an attribute of an operator, a module.

use crate::analysis::Analysis;
use skript_frontend::ast::{
    AttributeAssignment, BlockKind, Component, ComponentValue, Declaration, Definition, Expr, ExprKind,
    Ident, IterationCount, Module, Path,
};
use skript_frontend::eval::spelling::builtin;
use skript_frontend::source::Span;
use skript_frontend::syntax::block_kind;
use skript_frontend::syntax::token::{Token, TokenKind, path, scan};
use skript_semantics::ScalarOp;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

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

/// The entity that a word stands for.
pub(crate) enum Entity<'a> {
    Declared {
        definition: &'a Definition,
        declared: Declared,
    },
    Operator {
        module: &'a Module,
        definition: &'a Definition,
    },
    Attribute {
        operator: &'a Definition,
        declared: Declared,
    },
    Module(&'a Module),
    /// `@name`.
    Block(BlockKind),
    /// A function in back-ticks.
    BuiltIn(ScalarOp),
}

impl Entity<'_> {
    /// The span of the name in its declaration, which identifies the entity; the beginning of the file for a module.
    pub(crate) fn declaration(&self) -> Option<Span> {
        match self {
            Entity::Declared { declared, .. } | Entity::Attribute { declared, .. } => Some(declared.span),
            Entity::Operator { definition, .. } => Some(definition.name.span),
            Entity::Module(module) => Some(Span::new(module.file, 0, 0)),
            Entity::Block(_) | Entity::BuiltIn(_) => None,
        }
    }
}

/// The meaning of a word in an invocation, which is not a name of the definition around it.
#[derive(Clone, Copy)]
enum Role<'a> {
    Operator,
    Label,
    /// The name in `name=value`, with the path of the operator.
    Attribute(&'a Path),
}

/// The names of a definition.
struct Scope<'a> {
    declared: HashMap<String, Declared>,
    /// The keys are the offsets of the words.
    roles: HashMap<u32, Role<'a>>,
}

impl<'a> Scope<'a> {
    fn new(definition: &'a Definition) -> Self {
        let declared = declared_in(definition).into_iter().map(|d| (d.name.clone(), d)).collect();
        let mut roles = HashMap::new();
        let mut invoke = |operator: &'a Path, attributes: &'a [AttributeAssignment]| {
            roles.extend(operator.parts.last().map(|name| (name.span.start, Role::Operator)));
            roles.extend(attributes.iter().map(|a| (a.name.span.start, Role::Attribute(operator))));
        };
        let components = || definition.composes.iter().chain(&definition.updates);
        let invocations = || components().flat_map(|component| component.value.invocations());
        for invocation in invocations() {
            invoke(&invocation.operator, &invocation.attributes);
        }
        for quantization in &definition.quantizations {
            invoke(&quantization.operator, &quantization.attributes);
        }
        let blocks = components().flat_map(|component| component.value.nested()).filter_map(|v| match v {
            ComponentValue::Block(block) => block.label.as_ref(),
            _ => None,
        });
        let labels = invocations().filter_map(|invocation| invocation.label.as_ref()).chain(blocks);
        roles.extend(labels.map(|label| (label.span.start, Role::Label)));
        Scope { declared, roles }
    }
}

/// The words of a module with their entities.
pub(crate) struct Names<'a> {
    pub(crate) analysis: &'a Analysis,
    key: &'a str,
    pub(crate) module: &'a Module,
    /// Without comments. The tokens between braces replace a string with braces.
    pub(crate) tokens: Vec<Token<'a>>,
    /// The keys are the indices of the definitions; built on demand.
    scopes: RefCell<HashMap<usize, Rc<Scope<'a>>>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(analysis: &'a Analysis, key: &'a str, module: &'a Module) -> Self {
        let has_values = |token: &Token| token.kind == TokenKind::String && token.text.contains('{');
        let mut tokens = scan(analysis.text(module.file));
        if tokens.iter().any(has_values) {
            let scanned = std::mem::take(&mut tokens);
            tokens.reserve(scanned.len());
            for token in scanned {
                if has_values(&token) {
                    values(token, &mut tokens);
                } else {
                    tokens.push(token);
                }
            }
        }
        Names { analysis, key, module, tokens, scopes: RefCell::default() }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.analysis.text(self.module.file)
    }

    /// The span of the token at an index.
    pub(crate) fn span(&self, at: usize) -> Span {
        let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        let (start, end) = self.tokens.get(at).map_or((0, 0), |token| (token.start, token.end));
        Span::new(self.module.file, offset(start), offset(end))
    }

    /// The index of the word that touches an offset.
    pub(crate) fn word_at(&self, offset: usize) -> Option<usize> {
        let after = self.tokens.partition_point(|t| t.start <= offset);
        let is_word = |at: &usize| self.tokens.get(*at).is_some_and(|t| is_word(t) && t.end >= offset);
        let under = after.checked_sub(1).filter(is_word);
        // The word before a sign at the offset.
        under.or_else(|| after.checked_sub(2).filter(is_word))
    }

    /// The entity of the word that touches an offset, and the index of the word.
    pub(crate) fn entity_at(&self, offset: usize) -> Option<(usize, Entity<'a>)> {
        let at = self.word_at(offset)?;
        Some((at, self.entity(at)?))
    }

    /// The definition around a token.
    pub(crate) fn definition_around(&self, token: &Token) -> Option<(usize, &'a Definition)> {
        let definitions = &self.module.definitions;
        let at = definitions.partition_point(|d| d.span.start as usize <= token.start).checked_sub(1)?;
        Some((at, definitions.get(at).filter(|d| token.end <= d.span.end as usize)?))
    }

    fn scope(&self, index: usize, definition: &'a Definition) -> Rc<Scope<'a>> {
        let mut scopes = self.scopes.borrow_mut();
        Rc::clone(scopes.entry(index).or_insert_with(|| Rc::new(Scope::new(definition))))
    }

    /// The names that the definition at an index declares.
    pub(crate) fn declares(&self, definition: &'a Definition, name: &str) -> bool {
        let definitions = &self.module.definitions;
        let index = definitions.partition_point(|d| d.span.start < definition.span.start);
        self.scope(index, definition).declared.contains_key(name)
    }

    /// The entity of the word at an index of the tokens.
    pub(crate) fn entity(&self, at: usize) -> Option<Entity<'a>> {
        let token = self.tokens.get(at).filter(|token| is_word(token))?;
        let before = at.checked_sub(1).and_then(|before| self.touching(at, before));
        // A pack is expanded by two dots.
        let is_qualifier =
            self.touching(at, at + 1) == Some(".") && self.touching(at + 1, at + 2) != Some(".");
        match before {
            Some("@") => return block_kind(token.text).map(Entity::Block),
            Some("`") => return builtin(token.text).map(Entity::BuiltIn),
            _ => {}
        }
        let dotted = path(self.text(), self.tokens.get(..=at)?)?;
        let is_member = dotted.len() > token.text.len();
        let around = self.definition_around(token);
        if let Some(import) = self.module.imports.iter().find(|i| holds(i.path.span, token.start)) {
            return self.module_named(&import.path.text());
        }
        // A path before another dot names the module that contains the operator.
        if is_member || is_qualifier {
            let operator = self.operator(dotted).filter(|_| is_member);
            if let Some(entity) = operator.or_else(|| self.module_named(dotted)) {
                return Some(entity);
            }
        }
        // The property of a tensor.
        if is_member {
            return None;
        }
        let (index, definition) = around?;
        if definition.name.span.start as usize == token.start {
            return Some(Entity::Operator { module: self.module, definition });
        }
        let scope = self.scope(index, definition);
        match u32::try_from(token.start).ok().and_then(|start| scope.roles.get(&start)) {
            Some(Role::Label) => return None,
            Some(Role::Operator) => return self.operator(token.text),
            Some(Role::Attribute(operator)) => return self.attribute(&operator.text(), token.text),
            None => {}
        }
        let declared = scope.declared.get(token.text).cloned();
        match declared {
            Some(declared) => Some(Entity::Declared { definition, declared }),
            None => self.operator(token.text),
        }
    }

    /// The text of a token, if it touches the token at `at`.
    fn touching(&self, at: usize, other: usize) -> Option<&'a str> {
        let (token, other) = (self.tokens.get(at)?, self.tokens.get(other)?);
        (token.end == other.start || other.end == token.start).then_some(other.text)
    }

    fn module_named(&self, path: &str) -> Option<Entity<'a>> {
        Some(Entity::Module(self.analysis.program.resolve(self.key, path)?.1))
    }

    fn attribute(&self, operator: &str, name: &str) -> Option<Entity<'a>> {
        let Entity::Operator { definition, .. } = self.operator(operator)? else { return None };
        let declared = declarations("attribute", &definition.attributes).find(|d| d.name == name);
        declared.map(|declared| Entity::Attribute { operator: definition, declared })
    }

    /// The operator that a dotted path names.
    pub(crate) fn operator(&self, path: &str) -> Option<Entity<'a>> {
        let program = &self.analysis.program;
        let (key, name) = match path.rsplit_once('.') {
            Some((prefix, name)) => (program.resolve(self.key, prefix)?.0, name),
            None => (self.key, path),
        };
        let (key, definition) = program.definition(key, name)?;
        Some(Entity::Operator { module: program.modules.get(key)?, definition })
    }

    /// The module that a dotted path names.
    pub(crate) fn resolve(&self, path: &str) -> Option<&'a Module> {
        Some(self.analysis.program.resolve(self.key, path)?.1)
    }
}

/// Whether a token is a word that begins with a letter: numbers are words, too.
fn is_word(token: &Token) -> bool {
    token.kind == TokenKind::Word && !token.text.starts_with(|c: char| c.is_ascii_digit())
}

/// Adds the tokens between the braces of a string.
fn values<'t>(string: Token<'t>, tokens: &mut Vec<Token<'t>>) {
    let mut at = 0;
    while let Some(open) = string.text.get(at..).and_then(|rest| rest.find('{')).map(|found| at + found)
        && let Some(value) = string.text.get(open + 1..)
    {
        let length = value.find('}').unwrap_or(value.len());
        let inner = scan(value.split_at(length).0);
        let from = string.start + open + 1;
        let moved = |t: Token<'t>| Token {
            start: from + t.start,
            end: from + t.end,
            depth: string.depth + t.depth,
            ..t
        };
        tokens.extend(inner.into_iter().map(moved));
        at = open + 1 + length;
    }
}

fn holds(span: Span, offset: usize) -> bool {
    span.start as usize <= offset && offset <= span.end as usize
}

/// The definition that contains an offset.
pub(crate) fn definition_at(module: &Module, offset: usize) -> Option<&Definition> {
    module.definitions.iter().find(|d| holds(d.span, offset))
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
        declared.extend(lowering.unroll.iter().filter_map(counter));
    }
    for constant in definition.constants.iter().chain(&definition.variables) {
        declared.extend(constant.bounds.iter().map(|b| Declared::new("index", &b.name, b.span)));
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

/// The name of an iteration's number.
fn counter(count: &IterationCount) -> Option<Declared> {
    count.index.as_ref().map(|index| Declared::new("index", index, count.span))
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
                declared.extend(looping.count.iter().filter_map(counter));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::analysed;

    /// The entities of all words: `word:line` of the declaration, `word:block`, `word:function`, `word:module`.
    fn entities(text: &str) -> Vec<String> {
        let analysis = analysed(text);
        let names = analysis.names();
        let described = (0..names.tokens.len()).filter_map(|at| {
            let entity = names.entity(at)?;
            let what = match entity.declaration() {
                None => "function".to_owned(),
                Some(span) if span.end == 0 => "module".to_owned(),
                Some(span) => text[..span.start as usize].matches('\n').count().to_string(),
            };
            Some(format!("{}:{what}", names.tokens[at].text))
        });
        described.collect()
    }

    #[test]
    fn words_have_the_entities_of_the_language() {
        let text = "operator f {
    @attrib { stride: int; shape: int; }
    @input { x: real[n]; }
    @output { y: real[n]; }
    @assert { stride > 0: 'stride {stride} of {x.shape}'; }
    @lower { y[i,] = x[i,] * `exp`(real(stride)), i < n; }
}
graph G {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @compose { stride = f{stride=1, shape=2}(x); y = f: f{stride=1, shape=2}(stride); }
}
";
        let words = entities(text);
        let of_line =
            |needle: &str| words.iter().filter(|e| e.starts_with(needle)).cloned().collect::<Vec<_>>();
        // The last line: a tensor, an attribute, an attribute, the tensor.
        assert_eq!(
            of_line("stride:").join(" "),
            "stride:1 stride:1 stride:1 stride:1 stride:10 stride:1 stride:1 stride:10"
        );
        // A property is not the attribute of this name.
        assert_eq!(of_line("shape:").join(" "), "shape:1 shape:1 shape:1");
        // A label is not the operator of this name.
        assert_eq!(of_line("f:").join(" "), "f:0 f:0 f:0");
        assert_eq!(of_line("exp:").join(" "), "exp:function");
        assert_eq!(of_line("n:").len(), 3);
        assert_eq!(of_line("x:").join(" "), "x:2 x:2 x:2 x:8 x:8");
    }
}
