// SPDX-License-Identifier: Apache-2.0
//! The signature of a definition: its types, attributes, inputs and outputs.

use crate::ast::{BlockKind, Declaration, Definition, ExtentSpec, Path, TypeSpec};
use crate::check::lengths::Length;
use crate::check::types::{Base, Bound, Generic, Optional, Pack, Tensor, Type};
use crate::diagnostics::closest;
use crate::program::{Edition, Program};
use crate::source::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// An attribute, input or output as seen by an invocation.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) has_default: bool,
    pub(super) span: Span,
}

/// The interface of a definition.
#[derive(Debug)]
pub(super) struct Signature<'a> {
    pub(super) definition: &'a Definition,
    /// The generic types in the order of `@dtype`; the second field is the default type.
    pub(super) generics: Vec<(Rc<Generic>, Option<Base>)>,
    pub(super) attributes: Vec<Parameter>,
    pub(super) inputs: Vec<Parameter>,
    pub(super) outputs: Vec<Parameter>,
    /// Whether a declaration of these could not be parsed (reported): invocations are then not checked.
    pub(super) incomplete: bool,
}

impl<'a> Signature<'a> {
    fn new(definition: &'a Definition) -> Signature<'a> {
        let generics: Vec<(Rc<Generic>, Option<Base>)> = definition
            .dtypes
            .iter()
            .map(|d| {
                let generic = Generic { name: d.name.name.clone(), bound: Bound::from_parameter(d) };
                let default = d.default.as_ref().and_then(|i| Base::concrete(&i.name));
                (Rc::new(generic), default)
            })
            .collect();
        let parameters = |declarations: &[Declaration], tensors: bool| {
            declarations
                .iter()
                .map(|d| Parameter {
                    name: d.name.name.clone(),
                    ty: declared_type(&d.type_spec, &generics, tensors),
                    has_default: d.default.is_some(),
                    span: d.name.span,
                })
                .collect()
        };
        let mut outputs: Vec<Parameter> = parameters(&definition.outputs, true);
        for output in &mut outputs {
            // `optional` is reported where it is declared.
            output.ty.optional = Optional::No;
        }
        Signature {
            definition,
            attributes: parameters(&definition.attributes, false),
            inputs: parameters(&definition.inputs, true),
            outputs,
            incomplete: definition.unread.iter().any(|b| {
                matches!(b, BlockKind::Dtype | BlockKind::Attrib | BlockKind::Input | BlockKind::Output)
            }),
            generics,
        }
    }
}

/// The type of a declaration as seen from outside: with lengths only if they are numbers.
fn declared_type(spec: &TypeSpec, generics: &[(Rc<Generic>, Option<Base>)], tensor: bool) -> Type {
    let constant = |l: Length| match l.constant() {
        Some(n) => Length::number(n),
        None => Length::unknown(),
    };
    Type {
        base: base_named(&spec.base.name, generics).unwrap_or(Base::Unknown),
        pack: match &spec.pack {
            // An attribute with a shape is reported where it is declared.
            None if !tensor && spec.shape.is_some() => Pack::Unknown,
            None => Pack::Single,
            Some(pack) => Pack::Packed(match &pack.length {
                Some(length) => constant(Length::from_expr(length)),
                None => Length::unknown(),
            }),
        },
        optional: if spec.optional { Optional::Yes } else { Optional::No },
        tensor: match (tensor, &spec.shape) {
            (false, _) => Tensor::No,
            (true, None) => Tensor::Ranked(Length::unknown()),
            (true, Some(extents)) => Tensor::Ranked(constant(plain_rank(extents))),
        },
    }
}

/// The rank of a shape whose extents are numbers or `~`; a name could stand for an extent that is absent.
fn plain_rank(extents: &[ExtentSpec]) -> Length {
    let certain = |e: &ExtentSpec| {
        e.pack.is_none()
            && match &e.extent {
                None => true,
                Some(extent) => Length::from_expr(extent).constant().is_some(),
            }
    };
    if extents.iter().all(certain) { Length::count(extents.len()) } else { Length::unknown() }
}

/// A concrete type or a generic of the definition.
pub(super) fn base_named(name: &str, generics: &[(Rc<Generic>, Option<Base>)]) -> Option<Base> {
    Base::concrete(name)
        .or_else(|| generics.iter().find(|(g, _)| g.name == name).map(|(g, _)| Base::Generic(g.clone())))
}

/// All definitions of a program, by module and name.
#[derive(Debug)]
pub(super) struct Environment<'a> {
    pub(super) program: &'a Program,
    signatures: BTreeMap<&'a str, BTreeMap<&'a str, Signature<'a>>>,
}

/// The result of the search for an operator.
pub(super) enum Found<'e, 'a> {
    Operator(&'e Signature<'a>),
    /// The module is not imported here.
    NoModule,
    /// The module could not be loaded: already reported.
    Broken,
    /// The module does not have such an operator; its names.
    NoOperator(Vec<&'a str>),
}

impl<'a> Environment<'a> {
    pub(super) fn new(program: &'a Program) -> Environment<'a> {
        let mut signatures: BTreeMap<&str, BTreeMap<&str, Signature>> = BTreeMap::new();
        for (key, module) in &program.modules {
            for definition in &module.definitions {
                // The first of two definitions with the same name (reported) is used.
                signatures
                    .entry(key.as_str())
                    .or_default()
                    .entry(definition.name.name.as_str())
                    .or_insert_with(|| Signature::new(definition));
            }
        }
        Environment { program, signatures }
    }

    pub(super) fn is_khronos(&self, module: &str) -> bool {
        self.program.edition(module) == Edition::Khronos
    }

    /// The operator that `path` names inside `module` (a key).
    pub(super) fn find(&self, module: &'a str, path: &Path) -> Found<'_, 'a> {
        let Some((operator, qualifier)) = path.parts.split_last() else {
            return Found::Broken;
        };
        let key = if qualifier.is_empty() {
            module
        } else {
            let parts: Vec<&str> = qualifier.iter().map(|p| p.name.as_str()).collect();
            let dotted = parts.join(".");
            match self.program.resolve(module, &dotted) {
                Some((key, _)) => key,
                None if self.imports(module, &dotted) => return Found::Broken,
                None if self.is_misspelled_import(module, &dotted) => return Found::Broken,
                None if self.program.modules.get(module).is_some_and(|m| m.unread) => {
                    return Found::Broken;
                }
                None => return Found::NoModule,
            }
        };
        let operators = self.signatures.get(key);
        match operators.and_then(|o| o.get(operator.name.as_str())) {
            Some(signature) => Found::Operator(signature),
            None if self.program.modules.get(key).is_some_and(|m| m.unread) => Found::Broken,
            None => Found::NoOperator(operators.iter().flat_map(|o| o.keys()).copied().collect()),
        }
    }

    /// Whether the module's text imports `dotted`, loadable or not.
    fn imports(&self, module: &str, dotted: &str) -> bool {
        self.program.modules.get(module).is_some_and(|m| m.imports.iter().any(|i| i.path.text() == dotted))
    }

    /// Whether an import of a missing module (reported) was probably meant for `dotted`.
    fn is_misspelled_import(&self, module: &str, dotted: &str) -> bool {
        let imported = self.imported_names(module);
        let is_lost = |name: &&str| self.program.resolve(module, name).is_none();
        let lost = imported.iter().map(String::as_str).filter(is_lost);
        closest(dotted, lost).is_some()
    }

    /// Whether the module that `from` imports as `module` has an operator of this name.
    pub(super) fn has_operator(&self, from: &str, module: &str, operator: &str) -> bool {
        self.program
            .resolve(from, module)
            .is_some_and(|(_, m)| m.definitions.iter().any(|d| d.name.name == operator))
    }

    /// Modules that `module` imports, as written.
    pub(super) fn imported_names(&self, module: &str) -> Vec<String> {
        self.program
            .modules
            .get(module)
            .map_or_else(Vec::new, |m| m.imports.iter().map(|i| i.path.text()).collect())
    }
}
