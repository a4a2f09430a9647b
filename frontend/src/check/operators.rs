// SPDX-License-Identifier: Apache-2.0
//! Unary and binary operators, folds, casts and built-in functions (2.4).

use crate::ast::{BinaryOp, BlockKind, Expr, ExprKind, FoldOp, Ident, Path, UnaryOp};
use crate::check::checker::Checker;
use crate::check::signatures::{Found, base_named};
use crate::check::types::{Base, Bound, Optional, Tensor, Type};
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use crate::syntax::{builtin_instead, invocation_advice};

/// real → real.
const REAL_FUNCTIONS: &[&str] = &[
    "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "round", "floor", "ceil", "frac", "erf",
];

/// int → int, real → real.
const NUMERIC_FUNCTIONS: &[&str] = &["abs", "sign"];

/// The operand types that an operator accepts.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Numeric,
    Bool,
    Anything,
}

impl Needs {
    fn admits(self, base: &Base) -> bool {
        match self {
            Needs::Numeric => base.is_numeric(),
            Needs::Bool => base.agrees(&Base::Bool),
            Needs::Anything => true,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Needs::Numeric => "int or real",
            Needs::Bool => "bool",
            Needs::Anything => "any type",
        }
    }
}

impl Checker<'_> {
    pub(super) fn unary(&mut self, expr: &Expr, op: UnaryOp, operand: &Expr) -> Type {
        let ty = self.operand(operand, expr);
        let (symbol, needs) = match op {
            UnaryOp::Plus => ("+", Needs::Numeric),
            UnaryOp::Minus => ("-", Needs::Numeric),
            UnaryOp::Not => ("!", Needs::Bool),
        };
        if !needs.admits(&ty.base) {
            self.report_operand(expr, operand, &ty, symbol, needs);
            return ty.with_base(Base::Unknown);
        }
        ty
    }

    /// Binary operators are left-associative: `a + b + c + …` is processed in a loop, not by recursion.
    pub(super) fn binary_chain(&mut self, expr: &Expr) -> Type {
        let mut spine = Vec::new();
        let mut node = expr;
        while let ExprKind::Binary { op, left, right } = &node.kind {
            spine.push((node, *op, &**left, &**right));
            node = left;
        }
        let innermost = spine.last().map_or(expr, |(whole, ..)| whole);
        let mut ty = self.operand(node, innermost);
        for (whole, op, left, right) in spine.into_iter().rev() {
            // `?x && x > 0`: the test holds in the right operand
            let promoted =
                if op == BinaryOp::And { super::expressions::null_tests(left).0 } else { Vec::new() };
            self.scope.enter_promoted(&promoted, Optional::No);
            let right_type = self.operand(right, whole);
            self.scope.leave();
            ty = self.binary(whole, op, (left, ty), (right, right_type));
        }
        ty
    }

    fn binary(
        &mut self,
        whole: &Expr,
        op: BinaryOp,
        (left, a): (&Expr, Type),
        (right, b): (&Expr, Type),
    ) -> Type {
        let (symbol, needs, compares) = describe(op);
        let joins_strings =
            self.khronos && op == BinaryOp::Add && (a.base == Base::Str || b.base == Base::Str);
        let mut fits = true;
        for (operand, ty) in [(left, &a), (right, &b)] {
            if fits && !joins_strings && !needs.admits(&ty.base) {
                self.report_operand(whole, operand, ty, symbol, needs);
                fits = false;
            }
        }
        if fits && needs != Needs::Bool {
            fits = self.require_same_base((left, &a), (right, &b), &format!("the operands of `{symbol}`"));
        }
        let shape = self.combine_packs(&[(left, &a), (right, &b)], true);
        let base = match (compares, fits) {
            (true, _) => Base::Bool,
            (false, true) if needs == Needs::Bool => Base::Bool,
            (false, true) => a.base.clone().or(&b.base),
            (false, false) => Base::Unknown,
        };
        let tensor = match (&a.tensor, &b.tensor) {
            (Tensor::No, Tensor::No) => Tensor::No,
            _ => Tensor::Unknown,
        };
        let mut ty = shape.apply(Type::scalar(base), a.optional.join(b.optional));
        ty.tensor = tensor;
        ty
    }

    fn report_operand(&mut self, whole: &Expr, operand: &Expr, ty: &Type, symbol: &str, needs: Needs) {
        let mut diagnostic = Diagnostic::error(
            &codes::OPERAND_TYPE,
            operand.span,
            format!(
                "`{symbol}` requires {} operands, but `{}` is {}",
                needs.text(),
                self.text(operand.span),
                ty.base
            ),
        )
        .with_label(ty.to_string());
        if whole.span != operand.span {
            diagnostic = diagnostic.with_label_at(whole.span, "in this expression");
        }
        if let Base::Generic(g) = &ty.base {
            diagnostic = diagnostic.with_help(format!(
                "`{}` may be {}; declare it in `@dtype` as `num` if it must be numeric",
                g.name,
                g.bound.members()
            ));
        } else if ty.base == Base::Str && needs == Needs::Numeric {
            diagnostic = diagnostic
                .with_help("strings are joined by writing them side by side and built with `\"{expr}\"`");
        } else if symbol == "^" && Needs::Numeric.admits(&ty.base) {
            let help = "`^` is the exclusive or of two bools; a power is written `a ** b`";
            diagnostic = match self.sign_between(whole, symbol) {
                Some(sign) => diagnostic.with_fix(help, sign, "**"),
                None => diagnostic.with_help(help),
            };
        } else if needs == Needs::Bool {
            diagnostic = diagnostic.with_help("convert it to a bool with a comparison, or with `bool(…)`");
        } else if ty.base == Base::Bool {
            let written = self.text(operand.span);
            let text = without_parentheses(&written);
            diagnostic = diagnostic.with_help(format!(
                "convert it with `int({text})` or `real({text})`, or select a value, `{written} ? a : b`"
            ));
        }
        self.sink.report(diagnostic);
    }

    /// The span of the operator between the operands of a binary expression.
    fn sign_between(&self, whole: &Expr, symbol: &str) -> Option<Span> {
        let ExprKind::Binary { left, right, .. } = &whole.kind else { return None };
        let between = Span { end: right.span.start, ..left.span.after() };
        let text = self.written_text(between);
        let start = between.start + u32::try_from(text.len() - text.trim_start().len()).ok()?;
        let end = start + u32::try_from(symbol.len()).ok()?;
        (text.trim() == symbol).then_some(Span { start, end, ..between })
    }

    /// `x + ..` and `x + ...`.
    pub(super) fn fold(&mut self, whole: &Expr, pack: &Expr, op: FoldOp, cumulative: bool) -> Type {
        let ty = self.entity(pack);
        self.record_type(pack, &ty);
        let (symbol, needs) = match op {
            FoldOp::Add => ("+", Needs::Numeric),
            FoldOp::Mul => ("*", Needs::Numeric),
            FoldOp::And => ("&&", Needs::Bool),
            FoldOp::Or => ("||", Needs::Bool),
            FoldOp::Min => ("<<", Needs::Numeric),
            FoldOp::Max => (">>", Needs::Numeric),
            FoldOp::Lt => ("<", Needs::Numeric),
            FoldOp::Le => ("<=", Needs::Numeric),
            FoldOp::Gt => (">", Needs::Numeric),
            FoldOp::Ge => (">=", Needs::Numeric),
            FoldOp::Eq => ("==", Needs::Anything),
            FoldOp::Ne => ("!=", Needs::Anything),
            FoldOp::Uniform => (":=", Needs::Anything),
        };
        let dots = if cumulative { "..." } else { ".." };
        if ty.is_single() {
            self.report_not_a_pack(pack, &ty, &format!("`{symbol} {dots}` folds the items of a pack"));
            return Type::unknown();
        }
        let ty = self.require_value(pack, ty);
        if !needs.admits(&ty.base) {
            self.report_operand(whole, pack, &ty, &format!("{symbol} {dots}"), needs);
            return Type::unknown();
        }
        if cumulative {
            return ty;
        }
        let optional = match op {
            FoldOp::Uniform => Optional::Yes,
            // edition khronos does not type these as optional, although they may be null
            FoldOp::Min | FoldOp::Max if self.khronos => Optional::Maybe,
            FoldOp::Min | FoldOp::Max => Optional::Yes,
            _ => ty.optional,
        };
        let base = match op {
            FoldOp::Lt | FoldOp::Le | FoldOp::Gt | FoldOp::Ge | FoldOp::Eq | FoldOp::Ne => Base::Bool,
            _ => ty.base.clone(),
        };
        ty.item().with_base(base).with_optional(optional)
    }

    /// `int(x)`, `T(x)`.
    pub(super) fn cast(&mut self, target: &Ident, value: &Expr) -> Type {
        if self.is_invocation(target) {
            let message = format!("`{}` is invoked inside an expression", target.name);
            let diagnostic = Diagnostic::error(&codes::SYNTAX, target.span, message);
            self.sink.report(diagnostic.with_help(invocation_advice(&target.name)));
            return Type::unknown();
        }
        if base_named(&target.name, &self.generics).is_none() && !self.is_unread(&[BlockKind::Dtype]) {
            let message = format!("`{}` is neither a type nor a function", target.name);
            let diagnostic = Diagnostic::error(&codes::UNKNOWN_TYPE, target.span, message);
            let help = self.call_advice(&target.name);
            self.sink.report(match self.called_instead(&target.name) {
                Some(near) => diagnostic.with_fix(help, target.span, near),
                None => diagnostic.with_help(help),
            });
            return Type::unknown();
        }
        let ty = self.value(value);
        let base = self.base_named(target);
        let advice = "casts convert int, real and bool; write numbers into a string: `\"{x}\"`";
        if base == Base::Str {
            let message = "nothing can be cast to str";
            self.sink.report(Diagnostic::error(&codes::CAST_TYPE, target.span, message).with_help(advice));
            return ty.with_base(Base::Str);
        }
        if ty.base == Base::Str {
            let message = format!("a str cannot be cast to {}", target.name);
            let diagnostic = Diagnostic::error(&codes::CAST_TYPE, value.span, message);
            self.sink.report(diagnostic.with_label(ty.to_string()).with_help(advice));
        }
        ty.with_base(base)
    }

    /// Suggests a conversion of the expression at `span`.
    pub(super) fn converted(&self, diagnostic: Diagnostic, target: &str, span: Span) -> Diagnostic {
        let help = format!("convert it with `{target}({})`", self.text(span));
        diagnostic.with_fix(help, span, format!("{target}({})", self.written_text(span)))
    }

    /// The suggestion for `name(x)` with an unknown name.
    fn call_advice(&self, name: &str) -> String {
        let generics = self.generics.iter().map(|(g, _)| g.name.as_str());
        let types = ["int", "real", "bool"].into_iter().chain(generics);
        match closest(name, types) {
            Some(near) => format!("did you mean the cast `{near}(…)`?"),
            None => invocation_advice(name),
        }
    }

    /// The type or the built-in function that [`Checker::call_advice`] suggests in place of a name.
    fn called_instead(&self, name: &str) -> Option<String> {
        let generics = self.generics.iter().map(|(g, _)| g.name.as_str());
        let types = ["int", "real", "bool"].into_iter().chain(generics);
        closest(name, types).map(str::to_string).or_else(|| builtin_instead(name))
    }

    /// Whether an apparent cast names an operator of the module and not a type.
    fn is_invocation(&self, target: &Ident) -> bool {
        let path = Path { parts: vec![target.clone()], span: target.span };
        base_named(&target.name, &self.generics).is_none()
            && matches!(self.env.find(self.module, &path), Found::Operator(_))
    }

    /// `` `sqrt`(x) ``.
    pub(super) fn builtin(&mut self, whole: &Expr, name: &Ident, argument: &Expr) -> Type {
        let ty = self.operand(argument, whole);
        let real = REAL_FUNCTIONS.contains(&name.name.as_str());
        let numeric = NUMERIC_FUNCTIONS.contains(&name.name.as_str());
        if !real && !numeric {
            // reported by the parser
            return ty.with_base(Base::Unknown);
        }
        let fits = if real { ty.base.agrees(&Base::Real) } else { ty.base.is_numeric() };
        if !fits {
            let wanted = if real { "a real" } else { "an int or a real" };
            let mut diagnostic = Diagnostic::error(
                &codes::BUILTIN_ARGUMENT,
                argument.span,
                format!("`{}` takes {wanted}, but this is {}", name.name, ty.base),
            )
            .with_label(ty.to_string());
            match &ty.base {
                Base::Int => {
                    diagnostic = self.converted(diagnostic, "real", argument.span);
                }
                Base::Generic(g) if g.bound != Bound::Any => {
                    let help = format!(
                        "`{}` may be {}; convert with `real({})`",
                        g.name,
                        g.bound.members(),
                        self.text(argument.span)
                    );
                    let text = format!("real({})", self.written_text(argument.span));
                    diagnostic = diagnostic.with_fix(help, argument.span, text);
                }
                _ => {}
            }
            self.sink.report(diagnostic);
            return ty.with_base(if real { Base::Real } else { Base::Unknown });
        }
        if real { ty.with_base(Base::Real) } else { ty }
    }
}

/// The symbol, the operand types, and whether the result is a bool.
fn describe(op: BinaryOp) -> (&'static str, Needs, bool) {
    match op {
        BinaryOp::Add => ("+", Needs::Numeric, false),
        BinaryOp::Sub => ("-", Needs::Numeric, false),
        BinaryOp::Mul => ("*", Needs::Numeric, false),
        BinaryOp::Div => ("/", Needs::Numeric, false),
        BinaryOp::CeilDiv => ("\\", Needs::Numeric, false),
        BinaryOp::Mod => ("%", Needs::Numeric, false),
        BinaryOp::Pow => ("**", Needs::Numeric, false),
        BinaryOp::Min => ("<<", Needs::Numeric, false),
        BinaryOp::Max => (">>", Needs::Numeric, false),
        BinaryOp::Lt => ("<", Needs::Anything, true),
        BinaryOp::Le => ("<=", Needs::Anything, true),
        BinaryOp::Gt => (">", Needs::Anything, true),
        BinaryOp::Ge => (">=", Needs::Anything, true),
        BinaryOp::Eq => ("==", Needs::Anything, true),
        BinaryOp::Ne => ("!=", Needs::Anything, true),
        BinaryOp::And => ("&&", Needs::Bool, false),
        BinaryOp::Or => ("||", Needs::Bool, false),
        BinaryOp::Xor => ("^", Needs::Bool, false),
        BinaryOp::Implies => ("=>", Needs::Bool, false),
    }
}

/// The text of an expression without the parentheses around it.
fn without_parentheses(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0_i32;
    let is_outer = inner.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    });
    if is_outer { inner } else { text }
}
