// SPDX-License-Identifier: Apache-2.0
//! Syntax errors of pest in terms of the language.

use super::advice::{
    CHOICE, COMMENT_SIGN, foreign_operator, of_declaration, of_expression, of_statement, operator_for,
};
use super::build::Builder;
use super::formula_advice::of_formula;
use super::grammar::Rule;
use super::malformed_number::malformed;
use crate::diagnostics::codes::{NUMBER, RESERVED_WORD, SYNTAX};
use crate::diagnostics::{Code, Diagnostic};

const RESERVED: [&str; 25] = [
    "operator", "optional", "import", "public", "unroll", "graph", "yield", "while", "false", "elif", "else",
    "then", "with", "real", "bool", "true", "for", "inf", "int", "str", "if", "in", "is", "do", "pi",
];

/// The text at the position where the parser stopped.
pub(super) struct Found<'t> {
    /// The token at the position; empty at the end of a statement.
    pub(super) text: &'t str,
    /// The previous token; empty at the beginning of a statement.
    pub(super) before: &'t str,
    /// The token that ends the statement: `;`, `}`, `{`, or empty at the end of the file.
    pub(super) terminator: &'t str,
    /// The parsed text.
    pub(super) statement: &'t str,
    /// The offsets of the token, relative to the parsed text.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Reports that one of `expected` is needed at `found`.
pub(super) fn report(builder: &mut Builder, entry: Rule, expected: &[Rule], found: &Found) {
    let number = malformed(found);
    let end = number.as_ref().map_or(found.end, |number| number.end);
    let span = builder.span_at(found.start, end);
    let words = words(entry, expected);
    let shown = match (found.text, found.terminator) {
        ("", "") => "the end of the file".to_string(),
        ("", terminator) => format!("`{terminator}`"),
        (text, _) => format!("`{text}`"),
    };
    let (code, message): (&'static Code, String) = if let Some(number) = &number {
        (&NUMBER, number.message.clone())
    } else if is_foreign(found.text) {
        (&SYNTAX, format!("{shown} is not part of the language"))
    } else if is_misused_word(expected, found.text) && statement_advice(entry, found.text).is_none() {
        (&RESERVED_WORD, format!("{shown} is a reserved word, it cannot be a name"))
    } else if entry == Rule::assert_entry && found.text.starts_with(['"', '\'']) {
        (&SYNTAX, format!("expected `:`, found the message {shown}"))
    } else {
        (&SYNTAX, format!("expected {words}, found {shown}"))
    };
    // A reserved word that is used as a name is reported once, with the locations of all its uses.
    if code == &RESERVED_WORD && builder.sink.add_location(code, &message, span) {
        return;
    }
    let mut diagnostic = Diagnostic::error(code, span, message);
    let khronos = builder.marks.khronos_only.is_some();
    let in_formula =
        || (entry == Rule::lowering_entry).then(|| of_formula(expected, found, khronos)).flatten();
    let general = || help(entry, expected, found).map(str::to_string);
    let (help, fix) = match number {
        Some(number) => (number.help, number.fix),
        None => {
            let help = in_formula().or_else(general);
            let is_foreign = help.as_deref() == foreign_operator(found.text);
            let fix = operator_for(found.text).filter(|_| is_foreign).map(str::to_string);
            (help, fix)
        }
    };
    diagnostic = match (help, fix) {
        (Some(help), Some(fix)) => diagnostic.with_fix(help, span, fix),
        (Some(help), None) => diagnostic.with_help(help),
        (None, _) => diagnostic,
    };
    builder.sink.report(diagnostic);
}

fn is_foreign(text: &str) -> bool {
    text.starts_with(|c: char| !c.is_ascii() || c.is_ascii_control() || c == '$')
}

/// The help for a keyword of control flow at the beginning of a statement.
fn statement_advice(entry: Rule, text: &str) -> Option<&'static str> {
    if !matches!(text, "if" | "for" | "while" | "do" | "with" | "unroll") {
        return None;
    }
    Some(match entry {
        Rule::component_entry => {
            "branches and loops follow the name of their result: `y = if c then a else b`, \
             `y = with s = x for a : as do op(s, a)`"
        }
        Rule::lowering_entry if text == "if" => CHOICE,
        Rule::lowering_entry => "bounds of indices follow the formula: `y[i,] = x[i,], i < n`",
        _ => return None,
    })
}

fn is_misused_word(expected: &[Rule], text: &str) -> bool {
    RESERVED.contains(&text)
        && !matches!(text, "if" | "for" | "while" | "with" | "do" | "unroll" | "yield" | "then")
        && expected.iter().any(|r| is_expression(*r) || is_name(*r))
        || RESERVED.contains(&text) && !expected.is_empty() && expected.iter().all(|r| is_name(*r))
}

/// Whether a name is among the expected tokens.
pub(super) fn expects_name(expected: &[Rule]) -> bool {
    expected.iter().any(|r| is_name(*r) || is_expression(*r))
}

fn is_name(rule: Rule) -> bool {
    word(rule, "") == Some("a name")
}

fn is_expression(rule: Rule) -> bool {
    word(rule, "") == Some("an expression")
}

/// A comma-separated list of the expected tokens, with `or` before the last.
fn words(entry: Rule, expected: &[Rule]) -> String {
    let end = match entry {
        Rule::header => "`{`",
        Rule::format_entry => "`}`",
        _ => "`;`",
    };
    let mut words: Vec<&str> = Vec::new();
    for rule in expected {
        if let Some(word) = word(*rule, end)
            && !words.contains(&word)
        {
            words.push(word);
        }
    }
    // After an operand nearly everything may follow; listing the operators is sufficient.
    if words.contains(&"an operator") {
        words.retain(|w| !matches!(*w, "`[`" | "`..`" | "`(`" | "`.`" | "`:`" | "`<`" | "`{`"));
    }
    if words.contains(&"an expression") {
        words.retain(|w| !matches!(*w, "a name" | "a type" | "`(`" | "`[`" | "`~`" | "`|`" | "`:`"));
    }
    if words.iter().any(|w| w.starts_with("one of")) {
        words.retain(|w| *w != "`[`");
    }
    words.sort_by_key(|w| (w.starts_with('`'), *w));
    match words.split_last() {
        None => end.to_string(),
        Some((last, [])) => (*last).to_string(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

fn word(rule: Rule, end: &str) -> Option<&str> {
    use Rule::*;
    Some(match rule {
        EOI => end,
        infix | select | coalesce | question | coalesces => "an operator",
        fold | fold_op | larrow | substitute | trailing_comma | remap => return None,
        expr | chain | operand | primary | prefix | number | boolean | named_real | string | string_part
        | guarded | tuple | list | builtin | call | dotted | item | subscript | asserted | argument
        | real | int | glued_int | slice_end | slice_stride | extent => "an expression",
        index => "`[`",
        value | part => "an invocation or an expression",
        invocation | labelled_block | branching | looping => "an invocation",
        any_type | type_name | type_spec | modifier | marker => "a type",
        ident | using_entry | dtype_entry | declaration_entry | component_entry | quantize_entry
        | lowering_entry | path | target | target_name | target_item | target_list | component
        | using_item | using_list | header | loop_bound | attribute | carried | scan | access | local
        | local_pair | with_locals => "a name",
        lowering_op => "one of `=` `+=` `*=` `&=` `|=` `<=` `>=` `:=`",
        kw_import => "`import`",
        kw_public => "`public`",
        kw_operator => "`operator`",
        kw_graph => "`graph`",
        kw_optional => "`optional`",
        kw_static | kw_dynamic => return None,
        kw_if => "`if`",
        kw_then => "`then`",
        kw_elif => "`elif`",
        kw_else => "`else`",
        kw_with | with_clause => "`with`",
        kw_for | for_clause => "`for`",
        kw_while | while_clause => "`while`",
        kw_do => "`do`",
        kw_unroll => "`unroll`",
        kw_yield | yield_line => "`yield`",
        comma => "`,`",
        semicolon => "`;`",
        colon | label | range_tail | slice_tail => "`:`",
        assign | attr_assign => "`=`",
        less => "`<`",
        lpar => "`(`",
        rpar => "`)`",
        lbracket | shape_spec => "`[`",
        rbracket => "`]`",
        lbrace | attributes => "`{`",
        rbrace => "`}`",
        langle | type_arguments => "`<`",
        rangle => "`>`",
        dot => "`.`",
        dots | pack_spec | expand | count => "`..`",
        bar | extent_bound | formula_condition | guard => "`|`",
        omitted => "`~`",
        arrow | count_index => "`->`",
        caret | rank_spec => "`^`",
        backtick => "`` ` ``",
        _ => return None,
    })
}

fn help(entry: Rule, expected: &[Rule], found: &Found) -> Option<&'static str> {
    use Rule::*;
    let Found { text: found, before, .. } = *found;
    let expects = |rule: Rule| expected.contains(&rule);
    // In an attribute list, only a name or `}` is expected. In a block, the tokens that begin other statements are expected too.
    let only_names_or_brace = expects(rbrace) && expected.iter().all(|rule| matches!(rule, ident | rbrace));
    let only_names = !expected.is_empty() && expected.iter().all(|rule| is_name(*rule));
    Some(match found {
        _ if only_names && statement_advice(entry, found).is_some() => {
            return statement_advice(entry, found);
        }
        "=" if entry == component_entry && expects(rpar) => {
            "attributes are set in braces before the arguments: `op{name=value}(x)`"
        }
        "-=" | "-" if expects(lowering_op) => "there is no `-=`; add the negated value: `y[i,] += -x[i,]`",
        "if" if entry == lowering_entry && (expects(infix) || expected.iter().any(|r| is_expression(*r))) => {
            CHOICE
        }
        text if entry == assert_entry && text.starts_with(['"', '\'']) => {
            "an assertion is written `condition: \"message\", value, …;`"
        }
        ":" if expects(attr_assign) => "attributes are assigned with `=`: `{a=1}`",
        _ if expects(attr_assign) || only_names_or_brace && entry == component_entry => {
            "an attribute is written `name=value`"
        }
        _ if entry == declaration_entry && of_declaration(expected, found, before).is_some() => {
            return of_declaration(expected, found, before);
        }
        text if is_foreign(text) && "“”„‘’«»".contains(text) => {
            "a string is written between plain quotes, `\"…\"` or `'…'`"
        }
        "{" if entry == component_entry && before == ")" && !expects(infix) => {
            "attributes are set before the arguments: `op{name=value}(x)`"
        }
        "if" | "for" | "while" | "with" | "do" | "unroll"
            if entry == component_entry && expects(part) && !expects(value) =>
        {
            "write nested control flow in braces: `then { t = if c then a else b; yield t; }`"
        }
        "with" if expects(kw_do) => "`with` precedes `for`",
        "if" | "for" | "while" | "with" | "do" | "unroll" if expected.iter().any(|r| is_expression(*r)) => {
            "control flow is a statement of its own: assign its result to a name, then use the name"
        }
        "is" | "in" if is_misused_word(expected, found) => "choose another name; the word is an operator",
        "int" | "real" | "bool" | "str" if entry == declaration_entry => {
            "a declaration begins with the name: `x: real[n]`"
        }
        "pi" | "inf" if matches!(before, "." | "`") => {
            "`pi` and `inf` are literals, without a module and without back-ticks"
        }
        _ if is_misused_word(expected, found) => "choose another name",
        "..." => "a pack is expanded with two dots; three make a cumulative fold, as in `x + ...`",
        "<-" | "<" if expects(infix) => {
            "`a[i] <- b` replaces items of a pack; for a comparison with a negative number, write `< -`"
        }
        "" if expects(kw_else) => "an `if` always has an `else`",
        "/" if !expects(infix) && before == "/" => "for ints, `/` rounds down; a comment begins with `#`",
        "/" | "*" if !expects(infix) && (found == "/" || before == "/") => COMMENT_SIGN,
        _ if expects(infix) && before == "not" => return foreign_operator(before),
        _ if entry == component_entry && of_statement(expected, found).is_some() => {
            return of_statement(expected, found);
        }
        _ if expects(infix) && of_expression(found).is_some() => return of_expression(found),
        "as" if entry == import_line => "a module keeps its name: `import math;`, then `math.neg(x)`",
        _ if expects(colon) && entry == declaration_entry => "a declaration is written `name: type`",
        _ if (expects(type_spec) || expects(any_type)) && entry == declaration_entry => {
            "the types are `int`, `real`, `bool`, `str` and the names of @dtype"
        }
        _ => return None,
    })
}
