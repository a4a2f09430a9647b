// SPDX-License-Identifier: Apache-2.0
//! Hints for syntax of other languages: functions in expressions, keywords and signs.

use super::grammar::Rule;
use crate::diagnostics::closest;

/// The 22 functions that are written between back-ticks (2.4, 2.16 and the errata).
pub(crate) const BUILTINS: [&str; 22] = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor",
    "frac", "log", "round", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
];

pub(super) const COMMENT_SIGN: &str = "a comment begins with `#`";

/// How to write an unknown extent.
pub(crate) const OPEN_EXTENT: &str = "a dynamic extent has a name and an upper bound, as in `n|16`";

/// How to write a select in formulas.
pub(super) const CHOICE: &str =
    "in `@lower`, a choice is written `c ? a : b`, as in `y[i,] = x[i,] > 0.0 ? x[i,] : 0.0, i < n`";

const OPERATOR_HEADER: &str = "an operator is written `operator NAME { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; } }`";

const GRAPH_HEADER: &str =
    "write `graph NAME { @input { x: real[n]; } @output { y: real[n]; } @compose { y = op(x); } }`";

/// How to write the header of a definition; `is_graph`: of a graph.
pub(super) fn header(is_graph: bool) -> &'static str {
    if is_graph { GRAPH_HEADER } else { OPERATOR_HEADER }
}

/// The help for a keyword that begins a definition in other languages.
pub(super) fn foreign_definition(word: &str) -> Option<&'static str> {
    Some(match word {
        "def" | "fn" | "fun" | "func" | "function" | "fragment" | "kernel" | "lambda" | "op" | "proc" => {
            OPERATOR_HEADER
        }
        "class" | "model" | "module" | "net" | "network" | "struct" => GRAPH_HEADER,
        _ => return None,
    })
}

/// The help for an invocation of an operator inside an expression.
const INVOCATIONS_STAND_ALONE: &str =
    "an invocation is a statement of its own: assign its result to a name, then use the name";

/// Names that are operators here and functions elsewhere.
pub(super) fn operator_instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "min" | "fmin" | "minimum" => {
            "`a << b` is the minimum of two numbers; formulas accumulate it: `y[i,] <= x[i,j], i < n, j < m`"
        }
        "max" | "fmax" | "maximum" => {
            "`a >> b` is the maximum of two numbers; formulas accumulate it: `y[i,] >= x[i,j], i < n, j < m`"
        }
        "pow" | "power" => "a power is written `a ** b`",
        "clamp" | "clip" => {
            "`x >> low << high` limits a value; bars clamp an index of a tensor: `x[|i <> low : high|,]`"
        }
        "mod" | "fmod" => "a remainder is written `a % b`",
        "sum" | "reduce_sum" => {
            "formulas sum by `+=`: `y[i,] += x[i,j], i < n, j < m`; in packs `p + ..` is the sum"
        }
        _ => return None,
    })
}

/// The help for `name(…)` in an expression, where `name` is not a type.
pub(crate) fn invocation_advice(name: &str) -> String {
    if let Some(operator) = operator_instead(name) {
        return operator.to_string();
    }
    match closest(name, BUILTINS) {
        _ if BUILTINS.contains(&name) => {
            format!("built-in functions are written between back-ticks: `` `{name}`(…) ``")
        }
        Some(near) => format!("did you mean the built-in function `` `{near}`(…) ``?"),
        None => INVOCATIONS_STAND_ALONE.to_string(),
    }
}

/// The built-in function that [`invocation_advice`] suggests in place of a name.
pub(crate) fn builtin_instead(name: &str) -> Option<String> {
    if operator_instead(name).is_some() {
        return None;
    }
    let meant = if BUILTINS.contains(&name) { Some(name) } else { closest(name, BUILTINS) };
    meant.map(|function| format!("`{function}`"))
}

/// The literal that corresponds to a literal of other languages.
pub(crate) fn literal_instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "Inf" | "INF" | "infinity" | "Infinity" | "INFINITY" | "infty" => "inf",
        "nan" | "NaN" | "NAN" | "Nan" => "(inf - inf)",
        "Pi" | "PI" | "M_PI" => "pi",
        _ => return None,
    })
}

/// The help for a literal of other languages.
pub(crate) fn foreign_literal(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" => "the bool literals are `true` and `false`: write `true`",
        "False" | "FALSE" => "the bool literals are `true` and `false`: write `false`",
        "null" | "NULL" | "None" | "nil" | "nullptr" => {
            "null has no literal: omit the attribute or the argument, or write `c ? a`, which is null without `c`"
        }
        "Inf" | "INF" | "infinity" | "Infinity" | "INFINITY" | "infty" => "infinity is the literal `inf`",
        "nan" | "NaN" | "NAN" | "Nan" => "NaN has no literal: write `inf - inf`",
        "Pi" | "PI" | "M_PI" => "the literal is `pi`",
        "e" | "E" | "M_E" => {
            "Euler's number is `` `exp`(1.0) ``; an index is declared after the formula, `i < n`"
        }
        _ => return None,
    })
}

/// The type to which a type of other languages corresponds.
pub(crate) fn foreign_type(name: &str) -> Option<&'static str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match stem {
        "float" | "double" | "half" | "bfloat" | "scalar" => "real",
        "f" | "bf" if stem != name => "real",
        "integer" | "long" | "short" | "int" | "uint" => "int",
        "i" | "u" if stem != name => "int",
        "boolean" | "logical" => "bool",
        "string" => "str",
        _ => return None,
    })
}

/// The help for a word or sign of other languages, at the position of an operator or the end of the expression.
pub(super) fn foreign_operator(found: &str) -> Option<&'static str> {
    Some(match found {
        "and" | "&" => "the conjunction is written `&&`",
        "or" => "the disjunction is written `||`",
        "not" => "the negation is written `!`",
        "xor" => "for two bools, `a != b` is the exclusive or",
        "as" => "a cast is written `int(x)`",
        _ => return None,
    })
}

/// The operator that corresponds to an infix word or sign of other languages.
pub(super) fn operator_for(found: &str) -> Option<&'static str> {
    Some(match found {
        "and" | "&" => "&&",
        "or" => "||",
        "xor" => "!=",
        _ => return None,
    })
}

/// The help for a word or sign of other languages in an expression.
pub(super) fn of_expression(found: &str) -> Option<&'static str> {
    match found {
        "(" => Some(
            "operators are invoked by statements of `@compose`; built-in functions are written between back-ticks: `` `exp`(x) ``",
        ),
        _ => foreign_operator(found),
    }
}

/// The help for a token of other languages in a declaration; `before` is the token before `found`.
pub(super) fn of_declaration(expected: &[Rule], found: &str, before: &str) -> Option<&'static str> {
    use Rule::{bar, expr, lbracket, less, lpar, shape_spec};
    let expects = |rule: Rule| expected.contains(&rule);
    let expects_shape = expects(shape_spec) || expects(lbracket);
    Some(match found {
        "," | "]" if before == "?" => OPEN_EXTENT,
        "," => "every declaration ends with `;`, as in `a: int; b: int;`",
        ":" if expects(less) => "every declaration ends with `;`, as in `a: int = 1; b: int;`",
        "]" if expects(lpar) => "a list is declared as a pack, `a: int..`, with its length as `a: int..(n)`",
        "<" if expects_shape => "extents are written in brackets after the type: `x: real[n,m]`",
        "[" if !expects_shape && !expects(expr) && !expects(bar) => {
            "all extents are written in one pair of brackets: `x: real[n,m]`"
        }
        _ => return None,
    })
}

/// The help for a token of other languages in a statement of a composition.
pub(super) fn of_statement(expected: &[Rule], found: &str) -> Option<&'static str> {
    use Rule::{assign, infix, kw_then, kw_while};
    let expects = |rule: Rule| expected.contains(&rule);
    let is_word = found.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    Some(match found {
        _ if expects(kw_then) => "`then` separates the condition from the branch: `if c then a else b`",
        _ if expects(kw_while) && is_word => "a count follows two dots: `do..(3) op(x)`",
        "(" | "{" if expects(infix) => INVOCATIONS_STAND_ALONE,
        "+" | "-" | "*" | "/" if expects(assign) => {
            "a name is assigned once, by `=`: assign the result of an operator to another name, `u = op(t)`"
        }
        "." | "(" | "{" if expects(assign) => {
            "a statement assigns its result to a name: `y = op(x)`; a label precedes the operator: `y = label: op(x)`"
        }
        _ if expects(assign) && is_word => {
            "a statement assigns a result to a name, `y = op(x)`; results of an operator are its outputs, those of a block follow `yield`"
        }
        _ => return None,
    })
}
