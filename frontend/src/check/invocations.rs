// SPDX-License-Identifier: Apache-2.0
//! Invocations (2.10) and generics (2.13): arguments and attributes against the operator's declarations.

use crate::ast::{Argument, AttributeAssignment, Definition, Ident, Invocation, Path};
use crate::check::checker::Checker;
use crate::check::composition::Results;
use crate::check::declarations::converts;
use crate::check::resolution::find_operator;
use crate::check::signatures::{Parameter, Signature};
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use std::collections::BTreeMap;

/// The generic types of the operator that an invocation determines.
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

/// `module.op<T>{a=1}(x, ~)`: the types of its results.
pub(super) fn check_invocation(checker: &mut Checker, invocation: &Invocation) -> Results {
    let operator = find_operator(checker, &invocation.operator);
    let Some(signature) = operator.filter(|s| !s.incomplete) else {
        for attribute in &invocation.attributes {
            checker.value(&attribute.value);
        }
        for argument in &invocation.arguments {
            if let Argument::Expr(e) = argument {
                checker.entity(e);
            }
        }
        return None;
    };
    let mut bindings = Bindings::default();
    bind_explicit_types(checker, &invocation.types, signature, &mut bindings);
    let (arguments, is_faulty) =
        checker.noting_errors(|c| arguments(c, invocation, signature, &mut bindings));
    let attributes = attributes(checker, &invocation.attributes, signature, &mut bindings);
    compare_arguments(checker, invocation, signature, &arguments, &bindings);
    if !is_faulty {
        require_arguments(checker, invocation, signature);
    }
    compare_attributes(checker, &invocation.attributes, signature, &attributes, &bindings);
    require_attributes(checker, invocation, signature);
    require_types(checker, invocation, signature, &mut bindings);
    Some(
        signature
            .outputs
            .iter()
            .map(|o| Type { base: resolve(&o.ty.base, signature, &bindings), ..o.ty.clone() })
            .collect(),
    )
}

/// Checks `<real, int>`: at most as many types as declared, within their bounds.
fn bind_explicit_types<'a>(
    checker: &mut Checker<'a>,
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
        let diagnostic = Diagnostic::error(&codes::TYPE_COUNT, extra.span, message)
            .with_label_at(signature.definition.name.span, "declared here");
        let help = "drop the types that are too many";
        let kept = signature.generics.len().checked_sub(1).and_then(|last| types.get(last));
        checker.sink.report(match (kept, types.last()) {
            (Some(kept), Some(last)) => diagnostic.with_fix(help, kept.span.tail_to(last.span), ""),
            // The angle brackets are dropped, too.
            _ => diagnostic.with_help(help),
        });
        let unclear = signature.generics.iter().map(|(generic, _)| generic.name.clone());
        bindings.unclear.extend(unclear);
        return;
    }
    for (given, (generic, _)) in types.iter().zip(&signature.generics) {
        let base = checker.base_named(given);
        let base = if check_bound(checker, &base, given.span, signature, &generic.name) {
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
fn check_bound(checker: &mut Checker, base: &Base, span: Span, signature: &Signature, generic: &str) -> bool {
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
    checker.sink.report(diagnostic);
    false
}

/// The types of the arguments; tensors among them bind generic types first.
fn arguments<'a>(
    checker: &mut Checker<'a>,
    invocation: &Invocation,
    signature: &'a Signature<'a>,
    bindings: &mut Bindings,
) -> Vec<Option<Type>> {
    let types: Vec<Option<Type>> = invocation
        .arguments
        .iter()
        .map(|a| match a {
            Argument::Expr(e) => Some(checker.entity(e)),
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
                bind(checker, parameter, ty, argument_span(argument), convertible, signature, bindings);
            }
        }
    }
    types
}

fn attributes<'a>(
    checker: &mut Checker<'a>,
    given: &[AttributeAssignment],
    signature: &'a Signature<'a>,
    bindings: &mut Bindings,
) -> Vec<Type> {
    let types: Vec<Type> = given.iter().map(|a| checker.value(&a.value)).collect();
    for (attribute, ty) in given.iter().zip(&types) {
        let parameter = signature.attributes.iter().find(|p| p.name == attribute.name.name);
        if parameter.is_none() {
            // reported; the meant argument may determine any type
            let unclear = signature.generics.iter().map(|(generic, _)| generic.name.clone());
            bindings.unclear.extend(unclear);
        }
        if let Some(parameter) = parameter {
            bind(checker, parameter, ty, attribute.value.span, true, signature, bindings);
        }
    }
    types
}

/// Binds a generic type by an argument.
fn bind<'a>(
    checker: &mut Checker<'a>,
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
        let admitted = check_bound(checker, &ty.base, span, signature, &generic.name);
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
        let message = format!(
            "`{}` of `{}` cannot be both {base} and {}",
            generic.name, signature.definition.name.name, ty.base
        );
        checker.sink.report(
            Diagnostic::error(&codes::TYPE_CONFLICT, span, message)
                .with_label(ty.base.to_string())
                .with_label_at(first, base.to_string())
                .with_help(advice),
        );
    }
}

/// Checks positional arguments against inputs.
fn compare_arguments<'a>(
    checker: &mut Checker<'a>,
    invocation: &Invocation,
    signature: &'a Signature<'a>,
    types: &[Option<Type>],
    bindings: &Bindings,
) {
    let name = &signature.definition.name.name;
    let inputs = &signature.inputs;
    if report_loose_pack(checker, invocation, signature, types) {
        return;
    }
    if let Some(extra) = invocation.arguments.get(inputs.len()) {
        let count = inputs.len();
        let message = format!(
            "`{name}` takes {count} {}, but {} are given",
            if count == 1 { "input" } else { "inputs" },
            invocation.arguments.len()
        );
        checker.sink.report(
            Diagnostic::error(&codes::TOO_MANY_ARGUMENTS, argument_span(extra), message)
                .with_label("there is no input for this")
                .with_label_at(signature.definition.name.span, "declared here")
                .with_help("attributes are set by name, in braces: `op{a=1}(x)`"),
        );
    }
    for ((input, argument), ty) in inputs.iter().zip(&invocation.arguments).zip(types) {
        if let Some(ty) = ty {
            compare_argument(checker, argument_span(argument), ty, input, signature, bindings);
        }
    }
}

fn require_arguments<'a>(checker: &mut Checker<'a>, invocation: &Invocation, signature: &'a Signature<'a>) {
    for (i, input) in signature.inputs.iter().enumerate() {
        let needed = input.ty.optional == Optional::No && !input.has_default;
        let missing = match invocation.arguments.get(i) {
            None => Some(invocation.operator.span),
            Some(Argument::Omitted(span)) => Some(*span),
            Some(Argument::Expr(_)) => None,
        };
        if let (Some(span), true) = (missing, needed) {
            report_missing_argument(checker, span, input, signature.definition);
        }
    }
}

/// Reports `op(a, b)` where the last input is a pack that needs `[a, b]`; returns whether it did.
fn report_loose_pack<'a>(
    checker: &mut Checker<'a>,
    invocation: &Invocation,
    signature: &'a Signature<'a>,
    types: &[Option<Type>],
) -> bool {
    let Some((last, before)) = signature.inputs.split_last() else {
        return false;
    };
    let Some(loose) = invocation.arguments.get(before.len()..) else {
        return false;
    };
    let single = |ty: &Option<Type>| ty.as_ref().is_some_and(Type::is_single);
    let all_single = types.iter().skip(before.len()).all(single);
    let (Some(first), Some(end)) = (loose.first(), loose.last()) else {
        return false;
    };
    if !last.ty.is_packed() || loose.len() < 2 || !all_single {
        return false;
    }
    let span = argument_span(first).to(argument_span(end));
    let text = checker.text(span);
    let message = format!(
        "the input `{}` of `{}` is a pack, but these are {} arguments",
        last.name,
        signature.definition.name.name,
        loose.len()
    );
    checker.sink.report(
        Diagnostic::error(&codes::ARGUMENT_TYPE, span, message)
            .with_label_at(last.span, format!("declared as {}", last.ty))
            .with_fix(format!("write `[{text}]`"), span, format!("[{}]", checker.written_text(span))),
    );
    true
}

fn report_missing_argument(checker: &mut Checker, span: Span, input: &Parameter, owner: &Definition) {
    let name = &owner.name.name;
    let message = format!("the input `{}` of `{name}` is required", input.name);
    checker.sink.report(
        Diagnostic::error(&codes::MISSING_ARGUMENT, span, message)
            .with_label_at(input.span, format!("declared as {}", input.ty))
            .with_cause(owner.span, &input.name)
            .with_help("only optional inputs, and those with a default, may be omitted"),
    );
}

fn compare_argument<'a>(
    checker: &mut Checker<'a>,
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
            .with_cause(signature.definition.span, &input.name)
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
            .with_fix(
                format!("write `[{}]` for a pack of one", checker.text(span)),
                span,
                format!("[{}]", checker.written_text(span)),
            )
    } else if ty.optional == Optional::Null && input.ty.optional == Optional::No && !input.has_default {
        let text = checker.text(span);
        complaint(format!("`{text}` is null here, but {whose} is required"))
            .with_help("it is null in this branch of the test above; use it in the other branch")
    } else if ty.optional == Optional::Yes && input.ty.optional == Optional::No && !input.has_default {
        let text = checker.text(span);
        complaint(format!("`{text}` may be null, but {whose} is required"))
            .with_label(ty.to_string())
            .with_help(
                "write a value for null, as in `z ?? x`, or invoke the operator only if it is not null, `if ?z then … else …`",
            )
    } else {
        return;
    };
    checker.sink.report(report);
}

/// Checks attributes by name: declared, set once, of the declared type.
fn compare_attributes<'a>(
    checker: &mut Checker<'a>,
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
            let message = format!("the attribute `{key}` is set twice");
            let diagnostic = Diagnostic::error(&codes::ATTRIBUTE_TWICE, attribute.name.span, message);
            checker.sink.report(diagnostic.with_label_at(first.name.span, "first here"));
        }
        let Some(parameter) = signature.attributes.iter().find(|p| p.name == *key) else {
            let names: Vec<&str> = signature.attributes.iter().map(|p| p.name.as_str()).collect();
            let message = format!("`{name}` has no attribute `{key}`");
            let unknown = Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, attribute.name.span, message)
                .with_cause(signature.definition.span, key);
            checker.sink.report(match closest(key, names.iter().copied()) {
                Some(near) => unknown.with_meant(near),
                None if signature.inputs.iter().any(|p| p.name == *key) => {
                    unknown.with_help(format!("`{key}` is an input: pass it in the parentheses"))
                }
                None if names.is_empty() => unknown.with_help(format!("`{name}` has no attributes")),
                None => unknown.with_help(format!("its attributes are {}", names.join(", "))),
            });
            continue;
        };
        let wanted = resolve(&parameter.ty.base, signature, bindings);
        let declared = format!("declared as {}", parameter.ty);
        if !converts(ty, &wanted) {
            let message =
                format!("the attribute `{key}` of `{name}` must be {wanted}, but this is {}", ty.base);
            checker.sink.report(
                Diagnostic::error(&codes::ATTRIBUTE_TYPE, attribute.value.span, message)
                    .with_label(ty.to_string())
                    .with_label_at(parameter.span, declared),
            );
        } else if parameter.ty.is_single() && ty.is_packed() {
            let message = format!("the attribute `{key}` of `{name}` is a single value, but this is a pack");
            checker.sink.report(
                Diagnostic::error(&codes::ATTRIBUTE_TYPE, attribute.value.span, message)
                    .with_cause(signature.definition.span, key)
                    .with_label(ty.to_string())
                    .with_label_at(parameter.span, declared),
            );
        } else if let (Pack::Packed(wanted), Pack::Packed(length)) = (&parameter.ty.pack, &ty.pack)
            && wanted.differs(length)
        {
            let message = format!(
                "the attribute `{key}` of `{name}` has {} items, but {} are given",
                wanted.described(),
                length.described()
            );
            checker.sink.report(
                Diagnostic::error(&codes::LENGTHS_DIFFER, attribute.value.span, message)
                    .with_label(format!("length {}", length.described()))
                    .with_label_at(parameter.span, declared),
            );
        }
    }
}

/// Checks that attributes without a default are set.
fn require_attributes<'a>(checker: &mut Checker<'a>, invocation: &Invocation, signature: &'a Signature<'a>) {
    // An argument without an input (reported) was probably meant for an attribute.
    if invocation.arguments.len() <= signature.inputs.len() {
        require_attributes_of(checker, &invocation.attributes, &invocation.operator, signature);
    }
}

pub(super) fn require_attributes_of<'a>(
    checker: &mut Checker<'a>,
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
        let message = format!("the attribute `{}` of `{name}` needs a value", parameter.name);
        checker.sink.report(
            Diagnostic::error(&codes::MISSING_ATTRIBUTE, operator.span, message)
                .with_label_at(parameter.span, format!("declared as {}, without a default", parameter.ty))
                .with_help(format!("write `{}{{{}=…}}`", operator.text(), parameter.name)),
        );
    }
}

/// Checks that every generic type is given, deduced or has a default.
fn require_types<'a>(
    checker: &mut Checker<'a>,
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
        checker.sink.report(diagnostic);
        bindings.unclear.push(name.clone());
    }
}

/// An operator with attributes but without arguments: a quantization (2.14).
pub(super) fn check_attribute_list<'a>(
    checker: &mut Checker<'a>,
    given: &[AttributeAssignment],
    types: &[Ident],
    signature: &'a Signature<'a>,
) {
    let mut bindings = Bindings::default();
    bind_explicit_types(checker, types, signature, &mut bindings);
    let attribute_types = attributes(checker, given, signature, &mut bindings);
    compare_attributes(checker, given, signature, &attribute_types, &bindings);
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
