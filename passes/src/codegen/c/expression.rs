// SPDX-License-Identifier: Apache-2.0
//! Expressions of C with their precedence.

/// Levels of precedence; a higher level binds tighter.
pub(super) mod level {
    pub(in super::super) const CHOICE: u8 = 3;
    pub(in super::super) const OR: u8 = 4;
    pub(in super::super) const AND: u8 = 5;
    pub(in super::super) const BITS: u8 = 6;
    pub(in super::super) const EQUALITY: u8 = 9;
    pub(in super::super) const RELATION: u8 = 10;
    pub(in super::super) const SUM: u8 = 12;
    pub(in super::super) const PRODUCT: u8 = 13;
    pub(in super::super) const UNARY: u8 = 14;
    pub(in super::super) const PRIMARY: u8 = 15;
}

/// An expression without side effects.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    level: u8,
    /// Whether the expression reads memory, so that it must be evaluated before the next write.
    pub(super) reads: bool,
    /// The operands of a sum, for compound assignments.
    terms: Option<(String, String)>,
}

impl Expression {
    /// An identifier, a call, or an element of an array.
    pub(super) fn primary(text: impl Into<String>) -> Self {
        Expression { text: text.into(), level: level::PRIMARY, reads: false, terms: None }
    }

    /// A literal, which may have a sign.
    pub(super) fn literal(text: String) -> Self {
        let level = if text.starts_with('-') { level::UNARY } else { level::PRIMARY };
        Expression { level, ..Expression::primary(text) }
    }

    /// An element of an array.
    pub(super) fn element(text: String) -> Self {
        Expression { reads: true, ..Expression::primary(text) }
    }

    /// Whether the text is a name or a literal.
    pub(super) fn is_atom(&self) -> bool {
        self.text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    }

    /// The value, if the expression is a small integer literal.
    pub(super) fn integer(&self) -> Option<i64> {
        self.text.parse().ok()
    }

    /// The text, in parentheses if the expression binds looser than `level`.
    fn within(&self, level: u8) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    /// A binary operation whose operator is left-associative.
    pub(super) fn binary(level: u8, operator: &str, left: &Self, right: &Self) -> Self {
        // Compilers warn about mixed operators without parentheses.
        let (of_left, of_right) = match level {
            level::AND | level::OR => {
                let of = |side: &Self| if side.level == level { level } else { level::EQUALITY };
                (of(left), level::EQUALITY)
            }
            level::BITS => (level::UNARY, level::UNARY),
            level::EQUALITY | level::RELATION => (level::SUM, level::SUM),
            _ => (level, level + 1),
        };
        let (left_text, right_text) = (left.within(of_left), right.within(of_right));
        if operator == "+" && right.is_atom() && right.text.starts_with('-') {
            let positive = Expression::primary(right.text.trim_start_matches('-'));
            return Expression::binary(level, "-", left, &positive);
        }
        // A sign after an operator would read as a decrement.
        let right_text = if right_text.starts_with('-') { format!("({right_text})") } else { right_text };
        let terms = (operator == "+").then(|| (left.text.clone(), right.text.clone()));
        Expression {
            text: format!("{left_text} {operator} {right_text}"),
            level,
            reads: left.reads || right.reads,
            terms,
        }
    }

    /// A prefix operator, or a cast in parentheses.
    pub(super) fn unary(operator: &str, operand: &Self) -> Self {
        let inner = operand.within(level::UNARY);
        let inner = if operator == "-" && inner.starts_with('-') { format!("({inner})") } else { inner };
        Expression {
            text: format!("{operator}{inner}"),
            level: level::UNARY,
            reads: operand.reads,
            terms: None,
        }
    }

    /// A conversion to a type.
    pub(super) fn cast(r#type: &str, operand: &Self) -> Self {
        Expression::unary(&format!("({type})"), operand)
    }

    /// `condition ? then : otherwise`.
    pub(super) fn choice(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        let [first, second, third] = [condition, then, otherwise].map(|part| part.within(level::OR));
        Expression {
            text: format!("{first} ? {second} : {third}"),
            level: level::CHOICE,
            reads: condition.reads || then.reads || otherwise.reads,
            terms: None,
        }
    }

    /// A call of a function.
    pub(super) fn call(function: &str, arguments: &[Self]) -> Self {
        let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        Expression {
            reads: arguments.iter().any(|argument| argument.reads),
            ..Expression::primary(format!("{function}({})", texts.join(", ")))
        }
    }

    /// The statement that assigns the expression to a place; `place += …` if the expression adds to it.
    pub(super) fn assigned_to(&self, place: &str) -> String {
        match &self.terms {
            Some((first, second)) if first == place => format!("{place} += {second};"),
            Some((first, second)) if second == place => format!("{place} += {first};"),
            _ => format!("{place} = {};", self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Expression {
        Expression::primary(text)
    }

    #[test]
    fn parentheses_keep_the_order_of_evaluation() {
        let sum = Expression::binary(level::SUM, "+", &name("a"), &name("b"));
        let nested = Expression::binary(level::SUM, "+", &name("c"), &sum);
        assert_eq!(nested.text, "c + (a + b)");
        assert_eq!(Expression::binary(level::SUM, "+", &sum, &name("c")).text, "a + b + c");
        assert_eq!(Expression::binary(level::PRODUCT, "*", &sum, &name("c")).text, "(a + b) * c");
        let negative = Expression::literal("-1".to_owned());
        assert_eq!(Expression::binary(level::SUM, "-", &name("a"), &negative).text, "a - (-1)");
        assert_eq!(Expression::unary("-", &negative).text, "-(-1)");
        assert_eq!(Expression::cast("float", &sum).text, "(float)(a + b)");
    }

    #[test]
    fn operators_that_compilers_warn_about_have_parentheses() {
        let and = Expression::binary(level::AND, "&&", &name("a"), &name("b"));
        assert_eq!(Expression::binary(level::OR, "||", &and, &name("c")).text, "(a && b) || c");
        assert_eq!(Expression::binary(level::AND, "&&", &and, &name("c")).text, "a && b && c");
        let less = Expression::binary(level::RELATION, "<", &name("a"), &name("b"));
        assert_eq!(Expression::binary(level::EQUALITY, "==", &less, &name("c")).text, "(a < b) == c");
    }

    #[test]
    fn sums_that_start_with_the_place_become_compound_assignments() {
        let sum = |a: &Expression, b: &Expression| Expression::binary(level::SUM, "+", a, b);
        assert_eq!(sum(&name("x"), &Expression::literal("-2".to_owned())).text, "x - 2");
        assert_eq!(sum(&name("x"), &name("y")).assigned_to("x"), "x += y;");
        let longer = sum(&sum(&name("x"), &name("y")), &name("z"));
        assert_eq!(longer.assigned_to("x"), "x = x + y + z;", "floating-point sums keep their order");
    }
}
