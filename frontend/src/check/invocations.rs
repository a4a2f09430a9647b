// SPDX-License-Identifier: Apache-2.0
//! Invocations (2.10) and generics (2.13): arguments and attributes against the operator's declarations.

use std::collections::BTreeMap;

use crate::ast::{Argument, AttributeAssignment, Definition, Ident, Invocation, Path};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

use super::composition::Results;
use super::declarations::converts;
use super::definition::Checker;
use super::signatures::{Parameter, Signature};
use super::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::closest;

/// The generic types of the operator, as far as an invocation determines them.
#[derive(Default)]
struct Bindings {
    /// Name → type and span; a compile-time int may still become real.
    known: BTreeMap<String, Binding>,
    /// Generics whose type is unknown after errors: their absence is not reported.
    unclear: Vec<String>,
}

struct Binding {
    base: Base,
    span: Span,
    explicit: bool,
    /// From compile-time ints only.
    convertible: bool,
}

impl<'a> Checker<'a> {
    /// `module.op<T>{a=1}(x, ~)`: the types of its results.
    pub(super) fn invocation(&mut self, invocation: &Invocation) -> Results {
        let found = self.find_operator(&invocation.operator);
        let Some(signature) = found.filter(|s| !s.incomplete) else {
            for attribute in &invocation.attributes {
                self.value(&attribute.value);
            }
            for argument in &invocation.arguments {
                if let Argument::Expr(e) = argument {
                    self.entity(e);
                }
            }
            return None;
        };
        let mut bindings = Bindings::default();
        self.bind_explicit_types(&invocation.types, signature, &mut bindings);
        let (arguments, is_faulty) =
            self.noting_errors(|c| c.arguments(invocation, signature, &mut bindings));
        let attributes = self.attributes(&invocation.attributes, signature, &mut bindings);
        self.compare_arguments(invocation, signature, &arguments, &bindings);
        if !is_faulty {
            self.require_arguments(invocation, signature);
        }
        self.compare_attributes(&invocation.attributes, signature, &attributes, &bindings);
        self.require_attributes(invocation, signature);
        self.require_types(invocation, signature, &mut bindings);
        Some(
            signature
                .outputs
                .iter()
                .map(|o| Type { base: resolve(&o.ty.base, signature, &bindings), ..o.ty.clone() })
                .collect(),
        )
    }

    /// Checks `<real, int>`: at most as many types as declared, within their bounds.
    fn bind_explicit_types(
        &mut self,
        types: &[Ident],
        signature: &'a Signature<'a>,
        bindings: &mut Bindings,
    ) {
        let name = &signature.definition.name.name;
        if types.len() > signature.generics.len() {
            let Some(extra) = types.get(signature.generics.len()) else {
                return;
            };
            let message = match signature.generics.len() {
                0 => format!("`{name}` has no generic types"),
                n => format!(
                    "`{name}` has {n} generic {}, but {} are given",
                    if n == 1 { "type" } else { "types" },
                    types.len()
                ),
            };
            self.sink.report(
                Diagnostic::error(&codes::TYPE_COUNT, extra.span, message)
                    .with_label_at(signature.definition.name.span, "declared here")
                    .with_help("drop the types that are too many"),
            );
            let unclear = signature.generics.iter().map(|(generic, _)| generic.name.clone());
            bindings.unclear.extend(unclear);
            return;
        }
        for (given, (generic, _)) in types.iter().zip(&signature.generics) {
            let base = self.base_named(given);
            let base = if self.check_bound(&base, given.span, signature, &generic.name) {
                base
            } else {
                Base::Unknown
            };
            bindings.known.insert(
                generic.name.clone(),
                Binding { base, span: given.span, explicit: true, convertible: false },
            );
        }
    }

    /// Whether a type satisfies the bound of a generic one.
    fn check_bound(&mut self, base: &Base, span: Span, signature: &Signature, generic: &str) -> bool {
        let Some((declared, _)) = signature.generics.iter().find(|(g, _)| g.name == generic) else {
            return true;
        };
        if declared.bound.admits(base) {
            return true;
        }
        let location = signature.definition.dtypes.iter().find(|d| d.name.name == generic).map(|d| d.span);
        let mut diagnostic = Diagnostic::error(
            &codes::TYPE_OUTSIDE_BOUND,
            span,
            format!(
                "`{generic}` of `{}` cannot be {base}: it is restricted to `{}`",
                signature.definition.name.name,
                declared.bound.name()
            ),
        )
        .with_label(format!("{} expected", declared.bound.members()));
        if let Some(location) = location {
            diagnostic = diagnostic.with_label_at(location, "declared here");
        }
        self.sink.report(diagnostic);
        false
    }

    /// The types of the arguments; tensors among them bind generic types first.
    fn arguments(
        &mut self,
        invocation: &Invocation,
        signature: &'a Signature<'a>,
        bindings: &mut Bindings,
    ) -> Vec<Option<Type>> {
        let types: Vec<Option<Type>> = invocation
            .arguments
            .iter()
            .map(|a| match a {
                Argument::Expr(e) => Some(self.entity(e)),
                Argument::Omitted(_) => None,
            })
            .collect();
        for tensors in [true, false] {
            for (i, ty) in types.iter().enumerate() {
                let (Some(ty), Some(parameter), Some(argument)) =
                    (ty, signature.inputs.get(i), invocation.arguments.get(i))
                else {
                    continue;
                };
                if ty.is_tensor() == tensors {
                    let convertible = !ty.is_tensor() && ty.tensor == Tensor::No;
                    self.bind(parameter, ty, argument_span(argument), convertible, signature, bindings);
                }
            }
        }
        types
    }

    fn attributes(
        &mut self,
        given: &[AttributeAssignment],
        signature: &'a Signature<'a>,
        bindings: &mut Bindings,
    ) -> Vec<Type> {
        let types: Vec<Type> = given.iter().map(|a| self.value(&a.value)).collect();
        for (attribute, ty) in given.iter().zip(&types) {
            let parameter = signature.attributes.iter().find(|p| p.name == attribute.name.name);
            if parameter.is_none() {
                // reported; the meant argument may determine any type
                let unclear = signature.generics.iter().map(|(generic, _)| generic.name.clone());
                bindings.unclear.extend(unclear);
            }
            if let Some(parameter) = parameter {
                self.bind(parameter, ty, attribute.value.span, true, signature, bindings);
            }
        }
        types
    }

    /// Binds a generic type by an argument.
    fn bind(
        &mut self,
        parameter: &Parameter,
        ty: &Type,
        span: Span,
        convertible: bool,
        signature: &'a Signature<'a>,
        bindings: &mut Bindings,
    ) {
        let Base::Generic(generic) = &parameter.ty.base else {
            return;
        };
        if ty.base == Base::Unknown {
            bindings.unclear.push(generic.name.clone());
            return;
        }
        let int = convertible && ty.base == Base::Int;
        let Some(known) = bindings.known.get_mut(&generic.name) else {
            let admitted = self.check_bound(&ty.base, span, signature, &generic.name);
            bindings.known.insert(
                generic.name.clone(),
                Binding {
                    base: if admitted { ty.base.clone() } else { Base::Unknown },
                    span,
                    explicit: false,
                    convertible: int,
                },
            );
            return;
        };
        if known.base == ty.base || known.base == Base::Unknown {
            known.convertible &= int;
        } else if int && known.base == Base::Real {
            // becomes real
        } else if known.convertible && ty.base == Base::Real {
            known.base = Base::Real;
            known.span = span;
            known.convertible = false;
        } else {
            let (first, base) = (known.span, known.base.clone());
            known.base = Base::Unknown;
            let advice = if known.explicit {
                format!("omit `<{base}>`, because the arguments determine the type; or convert the argument")
            } else {
                format!("all arguments declared with `{}` must have one type", generic.name)
            };
            self.sink.report(
                Diagnostic::error(
                    &codes::TYPE_CONFLICT,
                    span,
                    format!(
                        "`{}` of `{}` cannot be both {base} and {}",
                        generic.name, signature.definition.name.name, ty.base
                    ),
                )
                .with_label(ty.base.to_string())
                .with_label_at(first, base.to_string())
                .with_help(advice),
            );
        }
    }

    /// Checks positional arguments against inputs.
    fn compare_arguments(
        &mut self,
        invocation: &Invocation,
        signature: &'a Signature<'a>,
        types: &[Option<Type>],
        bindings: &Bindings,
    ) {
        let name = &signature.definition.name.name;
        let inputs = &signature.inputs;
        if self.report_loose_pack(invocation, signature, types) {
            return;
        }
        if let Some(extra) = invocation.arguments.get(inputs.len()) {
            let count = inputs.len();
            self.sink.report(
                Diagnostic::error(
                    &codes::TOO_MANY_ARGUMENTS,
                    argument_span(extra),
                    format!(
                        "`{name}` takes {count} {}, but {} are given",
                        if count == 1 { "input" } else { "inputs" },
                        invocation.arguments.len()
                    ),
                )
                .with_label("there is no input for this")
                .with_label_at(signature.definition.name.span, "declared here")
                .with_help("attributes are set by name, in braces: `op{a=1}(x)`"),
            );
        }
        for ((input, argument), ty) in inputs.iter().zip(&invocation.arguments).zip(types) {
            if let Some(ty) = ty {
                self.compare_argument(argument_span(argument), ty, input, signature, bindings);
            }
        }
    }

    /// Checks that required inputs have arguments.
    fn require_arguments(&mut self, invocation: &Invocation, signature: &'a Signature<'a>) {
        for (i, input) in signature.inputs.iter().enumerate() {
            let needed = input.ty.optional == Optional::No && !input.has_default;
            let missing = match invocation.arguments.get(i) {
                None => Some(invocation.operator.span),
                Some(Argument::Omitted(span)) => Some(*span),
                Some(Argument::Expr(_)) => None,
            };
            if let (Some(span), true) = (missing, needed) {
                self.report_missing_argument(span, input, signature.definition);
            }
        }
    }

    /// Reports `op(a, b)` where the last input is a pack that needs `[a, b]`; returns whether it did.
    fn report_loose_pack(
        &mut self,
        invocation: &Invocation,
        signature: &'a Signature<'a>,
        types: &[Option<Type>],
    ) -> bool {
        let Some((last, before)) = signature.inputs.split_last() else {
            return false;
        };
        let loose = invocation.arguments.get(before.len()..).unwrap_or_default();
        let single = |ty: &Option<Type>| ty.as_ref().is_some_and(Type::is_single);
        let all_single = types.iter().skip(before.len()).all(single);
        let (Some(first), Some(end)) = (loose.first(), loose.last()) else {
            return false;
        };
        if !last.ty.is_packed() || loose.len() < 2 || !all_single {
            return false;
        }
        let span = argument_span(first).to(argument_span(end));
        let text = self.text(span);
        self.sink.report(
            Diagnostic::error(
                &codes::ARGUMENT_TYPE,
                span,
                format!(
                    "the input `{}` of `{}` is a pack, but these are {} arguments",
                    last.name,
                    signature.definition.name.name,
                    loose.len()
                ),
            )
            .with_label_at(last.span, format!("declared as {}", last.ty))
            .with_help(format!("write `[{text}]`")),
        );
        true
    }

    fn report_missing_argument(&mut self, span: Span, input: &Parameter, owner: &Definition) {
        let name = &owner.name.name;
        self.sink.report(
            Diagnostic::error(
                &codes::MISSING_ARGUMENT,
                span,
                format!("the input `{}` of `{name}` is required", input.name),
            )
            .with_label_at(input.span, format!("declared as {}", input.ty))
            .resting_on(owner.span, &input.name)
            .with_help("only optional inputs, and those with a default, may be omitted"),
        );
    }

    fn compare_argument(
        &mut self,
        span: Span,
        ty: &Type,
        input: &Parameter,
        signature: &'a Signature<'a>,
        bindings: &Bindings,
    ) {
        let name = &signature.definition.name.name;
        let wanted = resolve(&input.ty.base, signature, bindings);
        let fits = if ty.is_tensor() { ty.base.agrees(&wanted) } else { converts(ty, &wanted) };
        let whose = format!("the input `{}` of `{name}`", input.name);
        let complaint = |message: String| {
            Diagnostic::error(&codes::ARGUMENT_TYPE, span, message)
                .with_label_at(input.span, format!("declared as {}", input.ty))
                .resting_on(signature.definition.span, &input.name)
        };
        let report = if !fits {
            complaint(format!("{whose} must be {wanted}, but this is {}", ty.base)).with_label(ty.to_string())
        } else if ty.is_packed() && input.ty.is_single() {
            complaint(format!("{whose} is a single tensor, but this is a pack"))
                .with_label(ty.to_string())
                .with_help("select an item, `xs[k]`, or invoke the operator in a loop, `for x : xs do …`")
        } else if ty.is_single() && input.ty.is_packed() {
            complaint(format!("{whose} is a pack, but this is a single tensor"))
                .with_label(ty.to_string())
                .with_help(format!("write `[{}]` for a pack of one", self.text(span)))
        } else if ty.optional == Optional::Null && input.ty.optional == Optional::No && !input.has_default {
            let text = self.text(span);
            complaint(format!("`{text}` is null here, but {whose} is required"))
                .with_help("it is null in this branch of the test above; use it in the other branch")
        } else if ty.optional == Optional::Yes && input.ty.optional == Optional::No && !input.has_default {
            let text = self.text(span);
            complaint(format!("`{text}` may be null, but {whose} is required"))
                .with_label(ty.to_string())
                .with_help(
                    "write a value for null, as in `z ?? x`, or invoke the operator only if it is not null, `if ?z then … else …`",
                )
        } else {
            return;
        };
        self.sink.report(report);
    }

    /// Checks attributes by name: declared, set once, of the declared type.
    fn compare_attributes(
        &mut self,
        given: &[AttributeAssignment],
        signature: &'a Signature<'a>,
        types: &[Type],
        bindings: &Bindings,
    ) {
        let name = &signature.definition.name.name;
        for (i, (attribute, ty)) in given.iter().zip(types).enumerate() {
            let key = &attribute.name.name;
            let first = given.iter().take(i).find(|a| a.name.name == *key);
            if let Some(first) = first {
                self.sink.report(
                    Diagnostic::error(
                        &codes::ATTRIBUTE_TWICE,
                        attribute.name.span,
                        format!("the attribute `{key}` is set twice"),
                    )
                    .with_label_at(first.name.span, "first here"),
                );
            }
            let Some(parameter) = signature.attributes.iter().find(|p| p.name == *key) else {
                let names: Vec<&str> = signature.attributes.iter().map(|p| p.name.as_str()).collect();
                let help = match closest(key, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if signature.inputs.iter().any(|p| p.name == *key) => {
                        format!("`{key}` is an input: pass it in the parentheses")
                    }
                    None if names.is_empty() => format!("`{name}` has no attributes"),
                    None => format!("its attributes are {}", names.join(", ")),
                };
                self.sink.report(
                    Diagnostic::error(
                        &codes::UNKNOWN_ATTRIBUTE,
                        attribute.name.span,
                        format!("`{name}` has no attribute `{key}`"),
                    )
                    .resting_on(signature.definition.span, key)
                    .with_help(help),
                );
                continue;
            };
            let wanted = resolve(&parameter.ty.base, signature, bindings);
            let declared = format!("declared as {}", parameter.ty);
            if !converts(ty, &wanted) {
                self.sink.report(
                    Diagnostic::error(
                        &codes::ATTRIBUTE_TYPE,
                        attribute.value.span,
                        format!(
                            "the attribute `{key}` of `{name}` must be {wanted}, but this is {}",
                            ty.base
                        ),
                    )
                    .with_label(ty.to_string())
                    .with_label_at(parameter.span, declared),
                );
            } else if parameter.ty.is_single() && ty.is_packed() {
                self.sink.report(
                    Diagnostic::error(
                        &codes::ATTRIBUTE_TYPE,
                        attribute.value.span,
                        format!("the attribute `{key}` of `{name}` is a single value, but this is a pack"),
                    )
                    .resting_on(signature.definition.span, key)
                    .with_label(ty.to_string())
                    .with_label_at(parameter.span, declared),
                );
            } else if let (Pack::Packed(wanted), Pack::Packed(length)) = (&parameter.ty.pack, &ty.pack)
                && wanted.differs(length)
            {
                self.sink.report(
                    Diagnostic::error(
                        &codes::LENGTHS_DIFFER,
                        attribute.value.span,
                        format!(
                            "the attribute `{key}` of `{name}` has {} items, but {} are given",
                            wanted.described(),
                            length.described()
                        ),
                    )
                    .with_label(format!("length {}", length.described()))
                    .with_label_at(parameter.span, declared),
                );
            }
        }
    }

    /// Checks that attributes without a default are set.
    fn require_attributes(&mut self, invocation: &Invocation, signature: &'a Signature<'a>) {
        // An argument without an input (reported) was probably meant for an attribute.
        if invocation.arguments.len() <= signature.inputs.len() {
            self.require_attributes_of(&invocation.attributes, &invocation.operator, signature);
        }
    }

    pub(super) fn require_attributes_of(
        &mut self,
        given: &[AttributeAssignment],
        operator: &Path,
        signature: &'a Signature<'a>,
    ) {
        let is_given = |parameter: &Parameter| given.iter().any(|a| a.name.name == parameter.name);
        let is_known = |name: &str| signature.attributes.iter().any(|p| p.name == name);
        // Unknown attributes (reported) were probably meant for the missing ones.
        let unknown = given.iter().filter(|a| !is_known(&a.name.name)).count();
        let needed = |p: &&Parameter| !p.has_default && p.ty.optional == Optional::No;
        let missing = signature.attributes.iter().filter(needed);
        let missing: Vec<&Parameter> = missing.filter(|p| !is_given(p)).collect();
        if missing.len() <= unknown {
            return;
        }
        let unknown = given.iter().filter(|a| !is_known(&a.name.name));
        let names = || missing.iter().map(|p| p.name.as_str());
        let meant: Vec<&str> = unknown.filter_map(|a| closest(&a.name.name, names())).collect();
        for parameter in &missing {
            if meant.contains(&parameter.name.as_str()) {
                continue;
            }
            let name = &signature.definition.name.name;
            self.sink.report(
                Diagnostic::error(
                    &codes::MISSING_ATTRIBUTE,
                    operator.span,
                    format!("the attribute `{}` of `{name}` needs a value", parameter.name),
                )
                .with_label_at(parameter.span, format!("declared as {}, without a default", parameter.ty))
                .with_help(format!("write `{}{{{}=…}}`", operator.text(), parameter.name)),
            );
        }
    }

    /// Checks that every generic type is given, deduced or has a default.
    fn require_types(
        &mut self,
        invocation: &Invocation,
        signature: &'a Signature<'a>,
        bindings: &mut Bindings,
    ) {
        let (span, path) = (invocation.span, invocation.operator.text());
        for (generic, default) in &signature.generics {
            let name = &generic.name;
            if bindings.known.contains_key(name) || bindings.unclear.contains(name) || default.is_some() {
                continue;
            }
            // a default value may determine the type
            let from_default = signature
                .attributes
                .iter()
                .chain(&signature.inputs)
                .any(|p| p.has_default && p.ty.base == Base::Generic(generic.clone()));
            // a missing argument (reported) would determine it
            let from_missing = signature.inputs.iter().enumerate().any(|(i, input)| {
                let given = invocation.arguments.get(i);
                let is_missing = !matches!(given, Some(Argument::Expr(_)));
                let needed = input.ty.optional == Optional::No && !input.has_default;
                is_missing && needed && input.ty.base == Base::Generic(generic.clone())
            });
            if from_default || from_missing {
                continue;
            }
            let operator = &signature.definition.name.name;
            let location = signature.definition.dtypes.iter().find(|d| d.name.name == *name);
            let mut diagnostic = Diagnostic::error(
                &codes::TYPE_UNKNOWN,
                span,
                format!("the type `{name}` of `{operator}` cannot be deduced here"),
            )
            .with_help(format!("write it explicitly, as in `{path}<real>(…)`"));
            if let Some(location) = location {
                diagnostic = diagnostic.with_label_at(location.span, "declared here");
            }
            self.sink.report(diagnostic);
            bindings.unclear.push(name.clone());
        }
    }

    /// An operator with attributes but without arguments: a quantization (2.14).
    pub(super) fn check_attribute_list(
        &mut self,
        given: &[AttributeAssignment],
        types: &[Ident],
        signature: &'a Signature<'a>,
    ) {
        let mut bindings = Bindings::default();
        self.bind_explicit_types(types, signature, &mut bindings);
        let own = self.attributes(given, signature, &mut bindings);
        self.compare_attributes(given, signature, &own, &bindings);
    }
}

/// The declared type with the generic types of this invocation.
fn resolve(base: &Base, signature: &Signature, bindings: &Bindings) -> Base {
    let Base::Generic(generic) = base else {
        return base.clone();
    };
    if let Some(binding) = bindings.known.get(&generic.name) {
        return binding.base.clone();
    }
    if bindings.unclear.contains(&generic.name) {
        return Base::Unknown;
    }
    signature
        .generics
        .iter()
        .find(|(g, _)| g.name == generic.name)
        .and_then(|(_, default)| default.clone())
        .unwrap_or(Base::Unknown)
}

fn argument_span(argument: &Argument) -> Span {
    match argument {
        Argument::Expr(e) => e.span,
        Argument::Omitted(span) => *span,
    }
}
