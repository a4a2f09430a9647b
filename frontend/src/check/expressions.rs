// SPDX-License-Identifier: Apache-2.0
//! Types of expressions (2.4), null propagation (2.4.1) and promotion after null tests.

use crate::ast::{BinaryOp, DefinitionKind, Expr, ExprKind, Ident, Property, StringLiteral, StringPiece};
use crate::check::checker::{Checker, Context};
use crate::check::lengths::Length;
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, codes};
use crate::library_operators::{LibraryOperator, Operation, elementwise};
use crate::source::Span;
use crate::syntax::{foreign_literal, literal_instead};

/// The help for a tensor in a compile-time expression.
const COMPILE_TIME_ONLY: &str = "compile-time expressions see attributes and shapes; compute with the elements of a tensor in `@lower`, \
     or by invoking an operator in `@compose`";

impl Checker<'_> {
    /// The type of a compile-time value or of a scalar of a formula; a tensor is reported.
    pub(super) fn value(&mut self, expr: &Expr) -> Type {
        let ty = self.entity(expr);
        self.require_value(expr, ty)
    }

    /// The type of an operand of the scalar operation `whole`; a tensor is reported.
    pub(super) fn operand(&mut self, expr: &Expr, whole: &Expr) -> Type {
        let ty = self.entity(expr);
        let help = if ty.is_tensor() && self.context == Context::Composition {
            self.operator_advice(whole)
        } else {
            None
        };
        self.require_value_or(expr, ty, help)
    }

    /// Reports a tensor in the position of a value.
    pub(super) fn require_value(&mut self, expr: &Expr, ty: Type) -> Type {
        self.require_value_or(expr, ty, None)
    }

    /// The operator of the library that computes a scalar operation on tensors.
    fn operator_advice(&self, whole: &Expr) -> Option<String> {
        let (operation, operands): (_, Vec<&Expr>) = match &whole.kind {
            ExprKind::Unary { op, operand } => (Operation::Unary(*op), vec![operand]),
            ExprKind::Binary { op, left, right } => (Operation::Binary(*op), vec![left, right]),
            ExprKind::Builtin { name, argument } => (Operation::Builtin(name.name.clone()), vec![argument]),
            _ => return None,
        };
        let LibraryOperator { module, name } = elementwise(&operation)?;
        // A computed operand needs a separate statement.
        let text = |operand: &&Expr| match &operand.kind {
            ExprKind::Unary { .. } | ExprKind::Binary { .. } | ExprKind::Builtin { .. } => "…".to_string(),
            _ => self.text(operand.span),
        };
        let operands: Vec<String> = operands.iter().map(text).collect();
        let mut help = format!(
            "in `@compose`, operators compute with tensors, one statement each: `t = {module}.{name}({})`",
            operands.join(", ")
        );
        let imported = self.env.imported_names(self.module);
        if !imported.iter().any(|m| m == module) {
            help += &format!("; write `import {module};` at the beginning of the file");
        }
        Some(help)
    }

    fn require_value_or(&mut self, expr: &Expr, ty: Type, help: Option<String>) -> Type {
        if !ty.is_tensor() {
            return ty;
        }
        let text = self.text(expr.span);
        let rank = match &ty.tensor {
            Tensor::Ranked(rank) => rank.constant(),
            _ => None,
        };
        let diagnostic = match self.context {
            Context::Formula if rank == Some(0) && !ty.is_packed() => Diagnostic::error(
                &codes::TENSOR_AS_VALUE,
                expr.span,
                format!("the tensor `{text}` is used without indices in a formula"),
            )
            .with_label(format!("of type {ty}"))
            .with_fix(format!("read its only element with `{text}[]`"), expr.span.after(), "[]"),
            Context::Formula => Diagnostic::error(
                &codes::TENSOR_AS_VALUE,
                expr.span,
                format!("the tensor `{text}` is used without indices in a formula"),
            )
            .with_label(format!("of type {ty}"))
            .with_help(match rank {
                Some(1) => format!("read an element with `{text}[i,]`"),
                _ => format!("read an element with `{text}[i,…]`, one index per dimension"),
            }),
            Context::CompileTime | Context::Composition => Diagnostic::error(
                &codes::TENSOR_AS_VALUE,
                expr.span,
                format!("the tensor `{text}` is used where a compile-time value is needed"),
            )
            .with_label(format!("of type {ty}"))
            .with_help(help.unwrap_or_else(|| COMPILE_TIME_ONLY.to_string())),
        };
        self.sink.report(diagnostic);
        Type::unknown()
    }

    /// The type of an expression that may name full tensors; unknown after errors in it, so that no follow-up errors
    /// are reported.
    pub(super) fn entity(&mut self, expr: &Expr) -> Type {
        let (ty, is_faulty) = self.noting_errors(|c| c.type_of(expr));
        if is_faulty { Type::unknown() } else { ty }
    }

    fn type_of(&mut self, expr: &Expr) -> Type {
        match &expr.kind {
            ExprKind::Int(_) => Type::scalar(Base::Int),
            ExprKind::Real(_) => Type::scalar(Base::Real),
            ExprKind::Bool(_) => Type::scalar(Base::Bool),
            ExprKind::Str(literal) => {
                self.string(literal);
                Type::scalar(Base::Str)
            }
            ExprKind::Name(name) => self.name(name),
            ExprKind::Property { base, property } => self.property(base, *property, expr.span),
            ExprKind::Default(name) => match self.base_named(name) {
                Base::Unknown => Type::unknown(),
                base => Type::scalar(base),
            },
            ExprKind::List(items) => self.list(items),
            ExprKind::Index { base, subscripts, trailing_comma } => {
                self.index(expr, base, subscripts, *trailing_comma)
            }
            ExprKind::Substitute { base, subscript, value } => self.substitute(expr, base, subscript, value),
            ExprKind::Unary { op, operand } => self.unary(expr, *op, operand),
            ExprKind::Binary { .. } => self.binary_chain(expr),
            ExprKind::Select { condition, then, otherwise } => {
                self.select(condition, then, otherwise.as_deref())
            }
            ExprKind::Coalesce { value, fallback } => self.coalesce(value, fallback),
            ExprKind::NullTest(operand) => {
                self.entity(operand);
                Type::scalar(Base::Bool)
            }
            ExprKind::Is { left, right } => self.identity(left, right),
            ExprKind::In { item, pack } => self.containment(item, pack),
            ExprKind::Fold { pack, op, cumulative } => self.fold(expr, pack, *op, *cumulative),
            ExprKind::Cast { target, value } => self.cast(target, value),
            ExprKind::Builtin { name, argument } => self.builtin(expr, name, argument),
            ExprKind::Guard { index, remap } => {
                let remap = remap.as_deref().map(|(low, high)| (low, high));
                self.guard_expression(expr, index, remap)
            }
            ExprKind::Error => {
                self.unread += 1;
                Type::unknown()
            }
        }
    }

    /// Checks the values that a string formats (2.4, string formatting).
    pub(super) fn string(&mut self, literal: &StringLiteral) {
        for piece in &literal.pieces {
            if let StringPiece::Format(expr) = piece {
                self.value(expr);
            }
        }
    }

    fn name(&mut self, name: &Ident) -> Type {
        if let Some(symbol) = self.scope.lookup(&name.name) {
            return symbol.ty.clone();
        }
        self.report_unknown_name(name);
        Type::unknown()
    }

    fn is_operator(&self, name: &str) -> bool {
        let module = self.env.program.modules.get(self.module);
        let mut definitions = module.into_iter().flat_map(|m| &m.definitions);
        definitions.any(|d| d.kind == DefinitionKind::Operator && d.name.name == name)
    }

    /// Reports that a name is not declared, or not visible here.
    pub(super) fn report_unknown_name(&mut self, name: &Ident) {
        if name.name.is_empty() || !self.first_report_of(name) {
            return;
        }
        if let Some(hidden) = self.hidden.get(&name.name).copied() {
            let (message, help) = hidden.explain(&name.name, self.where_now);
            let mut diagnostic = Diagnostic::error(&codes::NAME_NOT_VISIBLE, name.span, message)
                .with_label_at(hidden.span, "declared here");
            if let Some(help) = help {
                diagnostic = diagnostic.with_help(help);
            }
            self.sink.report(diagnostic);
            return;
        }
        let mut diagnostic =
            Diagnostic::error(&codes::UNKNOWN_NAME, name.span, format!("`{}` is not declared", name.name))
                .with_label("unknown name");
        if let Some((span, what)) = self.ended.get(&name.name).copied() {
            diagnostic =
                diagnostic.with_label_at(span, format!("local to this {what}")).with_help(match what {
                    "block" => format!("the block returns it with `yield {}`", name.name),
                    "loop" => "the results of the loop are the names on the left side".to_string(),
                    _ => format!("bound it here, too: `{} < n`", name.name),
                });
        } else if let Some(help) = foreign_literal(&name.name) {
            diagnostic = match literal_instead(&name.name) {
                Some(literal) => diagnostic.with_fix(help, name.span, literal),
                None => diagnostic.with_help(help),
            };
        } else if self.context == Context::Formula
            && self.definition.lowers.iter().any(|l| l.target.name.name == name.name)
        {
            diagnostic = diagnostic.with_help(format!(
                "formulas are computed in their order: move the formula of `{}` up",
                name.name
            ));
        } else if self.is_operator(&name.name) {
            diagnostic = diagnostic.with_help(format!(
                "`{0}` is an operator, which a statement invokes: `y = {0}(x)`",
                name.name
            ));
        } else if let Some(near) = self.sink.closest(&name.name, || self.scope.names().collect()) {
            diagnostic = diagnostic.with_meant(near);
        } else if self.in_subscript {
            diagnostic = diagnostic.with_help(format!(
                "if it is an index, write its bound after the formula: `{} < n`",
                name.name
            ));
        }
        self.sink.report(diagnostic);
    }

    /// `x.shape`, `x.rank`, `x.size` (2.4, implicitly defined identifiers).
    fn property(&mut self, base: &Ident, property: Property, span: Span) -> Type {
        let Some(symbol) = self.scope.lookup(&base.name) else {
            self.report_unknown_name(base);
            return Type::unknown();
        };
        let ty = symbol.ty.clone();
        let kind = symbol.kind;
        let word = match property {
            Property::Shape => "shape",
            Property::Rank => "rank",
            Property::Size => "size",
        };
        let rank = match &ty.tensor {
            Tensor::No => {
                let message =
                    format!("`{}` is {}, and only tensors have `.{word}`", base.name, kind.describe());
                self.sink.report(
                    Diagnostic::error(&codes::NO_SUCH_PROPERTY, span, message)
                        .with_label(format!("of type {ty}"))
                        .with_help(if ty.is_packed() {
                            "declare the pack's length, as in `int..(k)`, and use its name"
                        } else {
                            "use the value itself"
                        }),
                );
                return Type::unknown();
            }
            Tensor::Ranked(rank) => rank.clone(),
            Tensor::Unknown => Length::unknown(),
        };
        let wrong = match property {
            Property::Size => ty.is_single(),
            Property::Shape | Property::Rank => ty.is_packed(),
        };
        if wrong && ty.is_tensor() {
            let (what, help) = match property {
                Property::Size => (
                    "is a single tensor, and only packs of tensors have `.size`",
                    format!("the number of its dimensions is `{}.rank`", base.name),
                ),
                _ => (
                    "is a pack of tensors, whose items may differ in shape",
                    format!(
                        "the number of items is `{}.size`; use the names of extents in its declaration",
                        base.name
                    ),
                ),
            };
            let message = format!("`{}` {what}", base.name);
            let diagnostic = Diagnostic::error(&codes::NO_SUCH_PROPERTY, span, message);
            self.sink.report(diagnostic.with_label(format!("of type {ty}")).with_help(help));
            return Type::unknown();
        }
        match property {
            Property::Shape => Type::packed(Base::Int, rank),
            _ => Type::scalar(Base::Int),
        }
        .with_optional(ty.optional)
    }

    /// `c ? a : b` and `c ? a`.
    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: Option<&Expr>) -> Type {
        let c = self.entity(condition);
        if c.is_tensor() && self.context == Context::Composition {
            let text = self.text(condition.span);
            let message = format!("the tensor `{text}` is used where a compile-time value is needed");
            self.sink.report(
                Diagnostic::error(&codes::TENSOR_AS_VALUE, condition.span, message)
                .with_label(format!("of type {c}"))
                .with_help("`?:` is evaluated at compile time; for a condition known at run time write `if c then a else b`"),
            );
            return Type::unknown();
        }
        let c = self.require_value(condition, c);
        if !c.base.agrees(&Base::Bool) {
            let message = format!("the condition of `?` must be a bool, but this is {c}");
            let help = "compare it, as in `n != 0 ? a : b`";
            let diagnostic = Diagnostic::error(&codes::CONDITION_NOT_BOOL, condition.span, message);
            self.sink.report(diagnostic.with_label(c.to_string()).with_help(help));
        }
        let (tested, refuted) = null_tests(condition);
        self.scope.enter_promoted(&tested, Optional::No);
        let a = self.entity(then);
        self.scope.leave();
        let Some(otherwise) = otherwise else {
            return self
                .combine_packs(&[(condition, &c), (then, &a)], c.is_packed())
                .apply(a, c.optional)
                .with_optional(Optional::Yes);
        };
        self.scope.enter_promoted(&refuted, Optional::Null);
        let b = self.entity(otherwise);
        self.scope.leave();
        self.require_same_base((then, &a), (otherwise, &b), "the branches of `?:`");
        let strict = c.is_packed();
        let shape = self.combine_packs(&[(condition, &c), (then, &a), (otherwise, &b)], strict);
        let optional = a.optional.join(b.optional).join(c.optional);
        let base = a.base.clone().or(&b.base);
        let tensor = join_tensor(&a, &b);
        let mut ty = shape.apply(a, Optional::No).with_base(base);
        ty.tensor = tensor;
        // A branch that an outer test makes null is not taken; one that this test makes null is.
        ty.with_optional(match (optional, b.optional) {
            (Optional::Null, Optional::Null) if !refuted.is_empty() => Optional::Yes,
            (Optional::Null, _) => Optional::Maybe,
            (known, _) => known,
        })
    }

    /// `a ?? b`.
    fn coalesce(&mut self, value: &Expr, fallback: &Expr) -> Type {
        let a = self.entity(value);
        let b = self.entity(fallback);
        if a.optional == Optional::No && a != Type::unknown() {
            let message = format!("the left side of `??` is of type {a} and can never be null");
            let diagnostic = Diagnostic::error(&codes::COALESCE_OPTIONALITY, value.span, message);
            let dropped = value.span.tail_to(fallback.span);
            let diagnostic = diagnostic.with_label("not optional");
            self.sink.report(diagnostic.with_fix("drop `??` and its right side", dropped, ""));
        }
        if b.optional.is_optional() {
            let message = "the right side of `??` must not be optional";
            let help = "end the chain with a value that is never null, as in `a ?? b ?? 0`";
            let diagnostic = Diagnostic::error(&codes::COALESCE_OPTIONALITY, fallback.span, message);
            self.sink.report(diagnostic.with_label(b.to_string()).with_help(help));
        }
        self.require_same_base((value, &a), (fallback, &b), "the sides of `??`");
        let pack = match (&a.pack, &b.pack) {
            (Pack::Single, Pack::Single) => Pack::Single,
            (Pack::Packed(x), Pack::Packed(y)) if x == y => Pack::Packed(x.clone()),
            (Pack::Packed(_), _) | (_, Pack::Packed(_)) => Pack::Packed(Length::unknown()),
            _ => Pack::Unknown,
        };
        Type { base: a.base.clone().or(&b.base), pack, optional: Optional::No, tensor: join_tensor(&a, &b) }
    }

    /// `a is b`: accepts any operands; decided at compile time.
    fn identity(&mut self, left: &Expr, right: &Expr) -> Type {
        let a = self.entity(left);
        let b = self.entity(right);
        let shape = self.combine_packs(&[(left, &a), (right, &b)], false);
        shape.apply(Type::scalar(Base::Bool), Optional::No).with_optional(a.optional.join(b.optional))
    }

    /// `x in a`.
    fn containment(&mut self, item: &Expr, pack: &Expr) -> Type {
        let x = self.entity(item);
        let a = self.entity(pack);
        self.record_type(pack, &a);
        if a.is_single() {
            self.report_not_a_pack(pack, &a, "the right side of `in` must be a pack");
        } else {
            self.require_same_base((item, &x), (pack, &a), "the sides of `in`");
        }
        Type { base: Base::Bool, pack: x.pack, optional: x.optional.join(a.optional), tensor: Tensor::No }
    }

    /// Checks that both have one type; reports both types otherwise.
    pub(super) fn require_same_base(
        &mut self,
        (left, a): (&Expr, &Type),
        (right, b): (&Expr, &Type),
        what: &str,
    ) -> bool {
        if a.base.agrees(&b.base) {
            return true;
        }
        let mut diagnostic = Diagnostic::error(
            &codes::TYPES_DIFFER,
            left.span.to(right.span),
            format!("{what} must have the same type, but they are {} and {}", a.base, b.base),
        )
        .with_label_at(left.span, a.to_string())
        .with_label_at(right.span, b.to_string());
        let help = conversion((left.span, &self.text(left.span)), a, (right.span, &self.text(right.span)), b);
        let mixes = matches!((&a.base, &b.base), (Base::Int, Base::Real) | (Base::Real, Base::Int));
        if let Some((help, span, conversion)) = help.filter(|_| !(mixes && self.in_subscript)) {
            let written = self.written_text(span);
            diagnostic = match conversion {
                Conversion::Point => diagnostic.with_fix(help, span, format!("{written}.0")),
                Conversion::Cast(ty) => diagnostic.with_fix(help, span, format!("{ty}({written})")),
                Conversion::Format => diagnostic.with_help(help),
            };
        } else if mixes {
            diagnostic = diagnostic.with_help(
                "an index is an int: divide ints by `/`, which rounds down, or convert a real index with `int(…)`",
            );
        }
        self.sink.report(diagnostic);
        false
    }

    /// The common length of operands that are combined item by item; two lengths that cannot agree are reported.
    /// Without `strict`, packs of different lengths are accepted (branches of `?:` with a single condition).
    pub(super) fn combine_packs(&mut self, operands: &[(&Expr, &Type)], strict: bool) -> PackShape {
        let mut shape = PackShape(Pack::Single);
        let mut first: Option<(&Expr, Length)> = None;
        for (expr, ty) in operands {
            match (&ty.pack, &shape.0) {
                (Pack::Packed(length), _) => {
                    if let Some((other, known)) = &first {
                        if strict && known.differs(length) {
                            let (a, b) = (known.described(), length.described());
                            let message = format!("packs have different lengths: {a} and {b}");
                            self.sink.report(
                                Diagnostic::error(&codes::LENGTHS_DIFFER, expr.span, message)
                                .with_label(format!("length {b}"))
                                .with_label_at(other.span, format!("length {a}"))
                                .with_help(
                                    "operands are combined item by item; use packs of the same length, or a single value for all items",
                                ),
                            );
                            return PackShape(Pack::Packed(Length::unknown()));
                        }
                        let merged = if strict {
                            known.clone().merge(length)
                        } else if known == length {
                            known.clone()
                        } else {
                            Length::unknown()
                        };
                        shape = PackShape(Pack::Packed(merged));
                    } else {
                        first = Some((*expr, length.clone()));
                        shape = PackShape(Pack::Packed(length.clone()));
                    }
                }
                (Pack::Unknown, Pack::Single) => shape = PackShape(Pack::Unknown),
                _ => {}
            }
        }
        shape
    }

    /// Reports a single value where `what` requires a pack.
    pub(super) fn report_not_a_pack(&mut self, expr: &Expr, ty: &Type, what: &str) {
        let text = self.text(expr.span);
        let message = format!("{what}, but `{text}` is a single {}", ty.base);
        self.sink
            .report(Diagnostic::error(&codes::NOT_A_PACK, expr.span, message).with_label(ty.to_string()));
    }
}

/// The packedness of a result, to be applied to a type.
pub(super) struct PackShape(pub(super) Pack);

impl PackShape {
    pub(super) fn apply(self, ty: Type, optional: Optional) -> Type {
        Type { pack: self.0, optional: ty.optional.join(optional), ..ty }
    }
}

/// A tensor if either operand certainly is one.
pub(super) fn join_tensor(a: &Type, b: &Type) -> Tensor {
    match (&a.tensor, &b.tensor) {
        (Tensor::Ranked(x), Tensor::Ranked(y)) if x == y => Tensor::Ranked(x.clone()),
        (Tensor::Ranked(_), _) | (_, Tensor::Ranked(_)) => Tensor::Ranked(Length::unknown()),
        (Tensor::No, Tensor::No) => Tensor::No,
        _ => Tensor::Unknown,
    }
}

/// The edit of an expression that changes its type.
enum Conversion {
    /// `.0` after a literal.
    Point,
    /// A cast to this type.
    Cast(String),
    /// A string around it.
    Format,
}

/// The help for two types that differ, and the expression that it converts.
fn conversion(
    (left_span, left): (Span, &str),
    a: &Type,
    (right_span, right): (Span, &str),
    b: &Type,
) -> Option<(String, Span, Conversion)> {
    let literal = |text: &str| text.bytes().all(|c| c.is_ascii_digit()) && !text.is_empty();
    let (span, text, target, is_left) = match (&a.base, &b.base) {
        (Base::Int, Base::Real) => (left_span, left, "real", true),
        (Base::Real, Base::Int) => (right_span, right, "real", false),
        (Base::Generic(g), Base::Int | Base::Real | Base::Bool) => (right_span, right, &*g.name, false),
        (Base::Int | Base::Real | Base::Bool, Base::Generic(g)) => (left_span, left, &*g.name, true),
        (Base::Int, Base::Bool) => (right_span, right, "int", false),
        (Base::Real, Base::Bool) => (right_span, right, "real", false),
        (Base::Bool, Base::Int) => (left_span, left, "int", true),
        (Base::Bool, Base::Real) => (left_span, left, "real", true),
        (Base::Str, _) if b.base != Base::Str => {
            return Some((
                format!("format it into a string: `\"{{{right}}}\"`"),
                right_span,
                Conversion::Format,
            ));
        }
        (_, Base::Str) => {
            return Some((
                format!("format it into a string: `\"{{{left}}}\"`"),
                left_span,
                Conversion::Format,
            ));
        }
        _ => return None,
    };
    let mixed = if is_left { &a.base } else { &b.base };
    let is_mix = *mixed == Base::Int && target == "real";
    if is_mix && literal(text) {
        return Some((format!("write `{text}.0`"), span, Conversion::Point));
    }
    let help = format!("convert with `{target}({text})`");
    let help = if is_mix { format!("int and real do not mix in expressions; {help}") } else { help };
    Some((help, span, Conversion::Cast(target.to_string())))
}

/// Names that are not null when `condition` holds, and names that are null when it does not (2.4, null testing): terms
/// of a conjunction for the former, a lone test for the latter.
pub(super) fn null_tests(condition: &Expr) -> (Vec<String>, Vec<String>) {
    let mut tested = Vec::new();
    let mut rest = vec![condition];
    while let Some(term) = rest.pop() {
        match &term.kind {
            ExprKind::Binary { op: BinaryOp::And, left, right } => rest.extend([&**left, &**right]),
            ExprKind::NullTest(operand) => {
                if let ExprKind::Name(name) = &operand.kind {
                    tested.push(name.name.clone());
                }
            }
            _ => {}
        }
    }
    let refuted = match &condition.kind {
        ExprKind::NullTest(_) => tested.clone(),
        _ => Vec::new(),
    };
    (tested, refuted)
}
