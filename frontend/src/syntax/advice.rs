// SPDX-License-Identifier: Apache-2.0
//! Hints for syntax of other languages: functions in expressions, keywords and signs.

use super::grammar::Rule;
use crate::diagnostics::closest;

/// The 22 functions that stand between back-ticks (2.4, 2.16 and the errata).
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
        "min" | "fmin" | "minimum" => "`a << b` is the minimum of two numbers",
        "max" | "fmax" | "maximum" => "`a >> b` is the maximum of two numbers",
        "pow" | "power" => "a power is written `a ** b`",
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

/// The help for a literal of other languages.
pub(crate) fn foreign_literal(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" => "the bool literals are `true` and `false`: write `true`",
        "False" | "FALSE" => "the bool literals are `true` and `false`: write `false`",
        "null" | "NULL" | "None" | "nil" | "nullptr" => {
            "null has no literal: omit the attribute or the argument, or write `c ? a`, which is null without `c`"
        }
        _ => return None,
    })
}

/// The type that other languages call by another name.
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

/// As above for expressions, with signs that are not operators there.
pub(super) fn of_expression(found: &str) -> Option<&'static str> {
    match found {
        "(" => Some(
            "operators are invoked by statements of `@compose`; built-in functions are written between back-ticks: `` `exp`(x) ``",
        ),
        _ => foreign_operator(found),
    }
}

/// As above for declarations; `before` is the token before the one found.
pub(super) fn of_declaration(expected: &[Rule], found: &str, before: &str) -> Option<&'static str> {
    use Rule::{bar, expr, lbracket, less, lpar, shape_spec};
    let wants = |rule: Rule| expected.contains(&rule);
    let wants_shape = wants(shape_spec) || wants(lbracket);
    Some(match found {
        "," | "]" if before == "?" => OPEN_EXTENT,
        "," => "every declaration ends with `;`, as in `a: int; b: int;`",
        ":" if wants(less) => "every declaration ends with `;`, as in `a: int = 1; b: int;`",
        "]" if wants(lpar) => "a list is declared as a pack, `a: int..`, with its length as `a: int..(n)`",
        "<" if wants_shape => "extents are written in brackets after the type: `x: real[n,m]`",
        "[" if !wants_shape && !wants(expr) && !wants(bar) => {
            "all extents are written in one pair of brackets: `x: real[n,m]`"
        }
        _ => return None,
    })
}

/// As above for statements of a composition, by the token found and the expected ones.
pub(super) fn of_statement(expected: &[Rule], found: &str) -> Option<&'static str> {
    use Rule::{assign, infix, kw_then, kw_while};
    let wants = |rule: Rule| expected.contains(&rule);
    let is_word = found.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    Some(match found {
        _ if wants(kw_then) => "`then` separates the condition from the branch: `if c then a else b`",
        _ if wants(kw_while) && is_word => "a count follows two dots: `do..(3) op(x)`",
        "(" | "{" if wants(infix) => INVOCATIONS_STAND_ALONE,
        "+" | "-" | "*" | "/" if wants(assign) => {
            "a name is assigned once, by `=`: assign the result of an operator to another name, `u = op(t)`"
        }
        "." | "(" | "{" if wants(assign) => {
            "a statement assigns its result to a name: `y = op(x)`; a label precedes the operator: `y = label: op(x)`"
        }
        _ if wants(assign) && is_word => {
            "a statement assigns a result to a name, `y = op(x)`; results of an operator are its outputs, those of a block follow `yield`"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::check::testing::{Document, check, in_compose, in_document, in_lower};

    fn assert_advises(document: &Document, wanted: &str) {
        let found = check(document);
        let texts: Vec<_> = found.iter().map(|d| (&d.message, &d.help)).collect();
        let [one] = &*found else {
            panic!("{texts:?}");
        };
        let help = one.help.as_deref().unwrap_or_default();
        assert!(help.contains(wanted), "{texts:?} without {wanted}");
    }

    #[test]
    fn formulas_call_no_functions() {
        for (value, wanted) in [
            ("min(line[i,], 1.0)", "`a << b`"),
            ("max(line[i,], 1.0)", "`a >> b`"),
            ("pow(line[i,], 2.0)", "`a ** b`"),
            ("sum(line[i,])", "`+=`"),
            ("sum(grid[i,])", "`+=`"),
            ("sqroot(line[i,])", "`` `sqrt`(…) ``"),
            ("`min`(line[i,], 1.0)", "`a << b`"),
            ("`sqrt`(line[i,], 1.0)", ""),
            ("!(not line[i,] > 0.0)", "`!`"),
            ("rael(i)", "the cast `real(…)`"),
            ("line[i,] & 1.0", "`&&`"),
            ("line[i,] > 0.0 and true", "`&&`"),
            ("line[i,] if true else 1.0", "`c ? a : b`"),
            ("if line[i,] > 0.0: line[i,] else: 0.0", "`c ? a : b`"),
            ("if line[i,] > 0.0 then line[i,] else 0.0", "`c ? a : b`"),
            ("line[i,] > 0.0 or true", "`||`"),
            ("math.exp(line[i,])", "`` `exp`(x) ``"),
            ("line[i // 2,]", "rounds down"),
            ("line[i,] ^ 2.0", "`a ** b`"),
        ] {
            assert_advises(&in_lower(&format!("y[i,] = {value}, i < a;")), wanted);
        }
        assert_advises(&in_lower("y[i,] -= line[i,], i < a;"), "`y[i,] += -x[i,]`");
        assert_advises(&in_lower("if (line[0,] > 0.0) { y[i,] = line[i,], i < a; }"), "`c ? a : b`");
        assert_advises(&in_lower("for i < a { y[i,] = line[i,]; }"), "follow the formula");
        assert_advises(&in_lower("for (int i = 0; i < a; i++) { y[i,] = line[i,]; }"), "follow the formula");
        assert_advises(&in_lower("y[i,] = line[i,], 0 <= i < a;"), "from 0 to the extent");
    }

    #[test]
    fn statements_of_other_languages() {
        for (statements, wanted) in [
            ("y = scale(x, k=1.0);", "`op{name=value}(x)`"),
            ("if b then y = x else y = x;", "`y = if c then a else b`"),
            ("for i in n { y = id(x); }", "`y = if c then a else b`"),
            ("t: id(x); y = id(x);", "`y = label: op(x)`"),
            ("y = id(x); return y;", "`yield`"),
            ("y = if b then if b then x else x else x;", "in braces"),
            ("y = if not b then x else x;", "`!`"),
            ("y = if (b) { t = id(x); yield t; } else x;", "`then`"),
            ("y = with s = x do(3) id(s);", "`do..(3) op(x)`"),
            ("y = scale{k=null}(x);", "null has no literal"),
            ("t: y = id(x);", "`y = t: id(…)`"),
            ("y = scale{k=1.0; n=2}(x);", "write `,`"),
            ("y = scale{2.0}(x);", "`name=value`"),
            ("y = scale(x){k=2.0};", "before the arguments"),
            ("t = x; t += x; y = t;", "another name"),
            ("return id(x);", "`y = op(x)`"),
            ("y = b ? x : x;", "`if c then a else b`"),
            ("y = scale(x, 2.0);", "in braces"),
            ("y = relu(x);", "`import nn;`"),
            ("y = id;", "which a statement invokes"),
            ("y = x * x;", "`t = math.mul(x, x)`; write `import math;`"),
            ("y = 2.0 / x;", "`t = math.div(2.0, x)`"),
            ("y = -x;", "`t = math.neg(x)`"),
            ("y = `exp`(x);", "`t = math.exp(x)`"),
            ("y = x + x * x;", "`t = math.add(x, …)`"),
        ] {
            assert_advises(&in_compose(statements), wanted);
        }
        let graph = "graph G { @input { x: real[3]; } @output { y: real[3]; } @compose { y = x; } }";
        for (text, wanted) in [
            ("// a comment\n", "`#`"),
            ("import math as m;\n", "keeps its name"),
            ("from math import neg;\n", "not their operators"),
        ] {
            assert_advises(&in_document(&format!("{text}{graph}")), wanted);
        }
        let attributes = |list: &str| {
            format!(
                "operator o {{ @attrib {{ {list} }} @input {{ x: real[]; }} @output {{ y: real[]; }} @lower {{ y[] = x[]; }} }} {graph}"
            )
        };
        for (list, wanted) in [
            ("a: list[int];", "`a: int..`"),
            ("a: int, b: int;", "ends with `;`"),
            ("a: optional int = None;", "it is null without a value"),
            ("a: int = 1, b: int;", "ends with `;`"),
            ("a: int = 1, b: int = 2;", "ends with `;`"),
        ] {
            assert_advises(&in_document(&attributes(list)), wanted);
        }
        for (header, wanted) in [
            ("graph G(x) -> (y) {", "`graph NAME {"),
            ("version 1.0; graph G( x ) -> ( y ) {", "a converter"),
            (
                "version 1.0;\nextension KHR_enable_fragment_definitions;\nfragment f(x: tensor<scalar>) -> (y: tensor<scalar>) { y = x; }",
                "a converter",
            ),
            ("graph G(x) -> (y) { y = relu(x); } graph H {", "`graph NAME {"),
        ] {
            let headed = graph.replace("graph G {", header);
            assert_advises(&in_document(&headed), wanted);
        }
        for (header, wanted) in [
            ("def f(x: real[n]) {", "`operator NAME {"),
            ("fn f(x: real[n]) -> real[n] {", "`operator NAME {"),
            ("operator f(x: real[n]) -> real[n] {", "`operator NAME {"),
            ("operator f(x: real[n]) -> (y: real[n]) {", "`operator NAME {"),
            ("class Net {", "`graph NAME {"),
        ] {
            let operator = format!("{header} @lower {{ y[i,] = x[i,], i < n; }} }} {graph}");
            assert_advises(&in_document(&operator), wanted);
        }
        for (ty, wanted) in [
            ("real[?]", "`n|16`"),
            ("real[3][3]", "one pair"),
            ("tensor<real>[3]", "after the type"),
            ("float[3]", "`real`"),
            ("int64[3]", "`int`"),
        ] {
            let typed = graph.replacen("real[3]", ty, 1);
            assert_advises(&in_document(&typed), wanted);
        }
        let commented = graph.replace("@output", "/* that is all */ @output");
        assert_advises(&in_document(&commented), "`#`");
        let quoted = graph.replace("@output", "@assert { 1 > 0: “text”; } @output");
        assert_advises(&in_document(&quoted), "plain quotes");
        let swapped = graph.replace("x: real[3]", "real x[3]");
        assert_advises(&in_document(&swapped), "`x: real[n]`");
    }
}
