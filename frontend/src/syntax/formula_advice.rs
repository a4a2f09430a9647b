// SPDX-License-Identifier: Apache-2.0
//! Hints for formulas that do not follow the grammar: conditions, clamps, accumulations and local values.

use super::expectation::Found;
use super::grammar::Rule;
use super::token::{Bracket, Token, TokenKind, scan};

const BOUND: &str = "a bound is written `i < extent` and runs from 0 to the extent, exclusive";

/// A formula and the token at which parsing stopped.
struct Formula<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    /// The index of the token.
    at: usize,
    khronos: bool,
}

/// The help for a formula; `khronos`: the module has syntax of this edition.
pub(super) fn of_formula(expected: &[Rule], found: &Found, khronos: bool) -> Option<String> {
    let tokens = scan(found.statement);
    let at = tokens.partition_point(|t| t.start < found.start);
    let formula = Formula { text: found.statement, tokens, at, khronos };
    let expects = |rule: Rule| expected.contains(&rule);
    if expects(Rule::lowering_op) {
        return formula.accumulation();
    }
    let is_bound = expects(Rule::less) && !expects(Rule::assign)
        || (expects(Rule::loop_bound) || expects(Rule::ident)) && formula.begins_bound();
    if is_bound {
        return formula.bound();
    }
    match found.text {
        "<>" if expects(Rule::infix) => {
            let clamp = formula.value_around(found.start)?;
            Some(format!("bars enclose a clamped index: write `|{clamp}|`"))
        }
        "if" | "when" | "where" | "and" | "&" if expects(Rule::infix) && formula.follows_bound() => {
            Some(condition_help(formula.rest_of_part(found.start + found.text.len())?))
        }
        "for" if expects(Rule::infix) => {
            Some("bounds of indices follow the value after commas: `y[i,] = x[i,], i < n`".to_string())
        }
        "|" if expects(Rule::infix) && formula.is_in_clamp() => Some(
            "a clamp has two positions, one below and one above the tensor: `|i <> low : high|`".to_string(),
        ),
        "," if expects(Rule::bar) && expects(Rule::infix) => {
            Some("`|i|` is a guard; `|i <> low : high|` clamps the index".to_string())
        }
        _ => formula.local_value(expected),
    }
}

fn condition_help(condition: &str) -> String {
    format!("a condition is written after all bounds: `| {condition}`")
}

impl<'t> Formula<'t> {
    fn before(&self) -> impl DoubleEndedIterator<Item = &Token<'t>> {
        self.tokens.iter().take(self.at)
    }

    fn text_of(&self, tokens: &[Token]) -> Option<&'t str> {
        self.text.get(tokens.first()?.start..tokens.last()?.end)
    }

    /// The tokens of the bound, local value or subscript at an offset: up to commas and brackets around it.
    fn part(&self, offset: usize) -> Option<&[Token<'t>]> {
        let at = self.tokens.partition_point(|t| t.start < offset);
        let (before, after) = self.tokens.split_at(at);
        let begin = at - before.iter().rev().take_while(inside(false)).count();
        let end = at + after.iter().take_while(inside(true)).count();
        self.tokens.get(begin..end)
    }

    /// The text of the part at an offset, without the name and `=` of a local value.
    fn value_around(&self, offset: usize) -> Option<&'t str> {
        match self.part(offset)? {
            [_, assign, value @ ..] if assign.text == "=" => self.text_of(value),
            tokens => self.text_of(tokens),
        }
    }

    /// The text from an offset to the end of its part.
    fn rest_of_part(&self, offset: usize) -> Option<&'t str> {
        let end = self.part(offset)?.last()?.end;
        self.text.get(offset..end).map(str::trim)
    }

    /// Whether the token follows a comma after the value of the formula.
    fn begins_bound(&self) -> bool {
        const OPERATORS: [&str; 10] = ["=", "+=", "*=", "&=", "|=", "<=", ">=", ":=", "<?=", ">?="];
        let is_value = |bracket: &Token| {
            let after = self.text.get(bracket.end..).map(str::trim_start);
            let value = after.and_then(|after| OPERATORS.iter().find_map(|op| after.strip_prefix(op)));
            value.is_some_and(|value| !value.starts_with('='))
        };
        let mut brackets = self.before().filter(|t| t.kind == TokenKind::Close(Bracket::Square));
        self.before().next_back().is_some_and(|t| t.kind == TokenKind::Comma) && brackets.any(is_value)
    }

    /// Whether the token follows a bound `i < n`.
    fn follows_bound(&self) -> bool {
        let part = self.tokens.get(self.at).and_then(|token| self.part(token.start));
        matches!(part, Some([name, less, ..]) if name.kind == TokenKind::Word && less.text == "<")
    }

    /// Whether `<>` is between the token, a bar, and the bar before it.
    fn is_in_clamp(&self) -> bool {
        self.before().rev().take_while(|t| t.text != "|").any(|t| t.text == "<>")
    }

    /// The help for a condition in place of a bound, or for a bound that is not `i < extent`.
    fn bound(&self) -> Option<String> {
        let tokens = self.part(self.tokens.get(self.at)?.start)?;
        let is_name = |t: &Token| t.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_bounded = |name: &Token| {
            let mut pairs = self.tokens.iter().zip(self.tokens.iter().skip(1));
            pairs.any(|(a, b)| a.text == name.text && b.text == "<")
        };
        let compares = |t: &Token| t.text == "<" || t.text == "<=";
        Some(match tokens {
            [name, less, extent @ ..] if less.text == "<=" && is_name(name) && !is_bounded(name) => {
                format!("{BOUND}: `{} < {} + 1`", name.text, self.text_of(extent)?)
            }
            [first, from, name, to, extent @ ..] if is_name(name) && compares(from) && compares(to) => {
                let (first, name) = (first.text, name.text);
                let end = if to.text == "<=" { " + 1" } else { "" };
                let bound = format!("{name} < {}{end}", self.text_of(extent)?);
                match (first, from.text) {
                    ("0", "<=") => format!("{BOUND}: `{bound}`"),
                    (_, from) => {
                        format!("{BOUND}; write `{bound}` and, after all bounds, `| {first} {from} {name}`")
                    }
                }
            }
            _ => format!("{BOUND}; {}", condition_help(self.text_of(tokens)?)),
        })
    }

    /// The help for an accumulation that the language does not have.
    fn accumulation(&self) -> Option<String> {
        let token = self.tokens.get(self.at)?;
        let (target, after) = self.text.split_at_checked(token.start)?;
        let (sign, value) = after.split_once('=')?;
        let value = value.trim_start_matches('=');
        let value = self.rest_of_part(self.text.len() - value.len())?;
        let target = target.get(self.begin_of_access()?..)?.trim();
        let (min, max) = if self.khronos { ("<?=", ">?=") } else { ("<=", ">=") };
        let sign = sign.trim_end();
        Some(match sign {
            "max" | "maximum" | "fmax" | ">>" | ">?" => {
                format!("the maximum is accumulated by `{max}`: `{target} {max} {value}`")
            }
            "min" | "minimum" | "fmin" | "<<" | "<?" => {
                format!("the minimum is accumulated by `{min}`: `{target} {min} {value}`")
            }
            "&&" | "and" => format!("the conjunction is accumulated by `&=`: `{target} &= {value}`"),
            "||" | "or" => format!("the disjunction is accumulated by `|=`: `{target} |= {value}`"),
            "/" => format!("there is no `/=`; multiply by the inverse: `{target} *= 1.0 / ({value})`"),
            "**" | "%" | "^" | "\\" | "//" => {
                format!("there is no `{sign}=`; replace the element: `{target} := {target} {sign} ({value})`")
            }
            "" if after.starts_with("==") => format!("an assignment is written `{target} = {value}`"),
            _ => return None,
        })
    }

    /// The offset of the access before the token: its name, and one or two pairs of brackets.
    fn begin_of_access(&self) -> Option<usize> {
        let mut depth = 0_i32;
        let begin = self.before().rev().find(|token| {
            match token.kind {
                TokenKind::Close(Bracket::Square) => depth += 1,
                TokenKind::Open(Bracket::Square) => depth -= 1,
                _ => {}
            }
            token.kind == TokenKind::Word && depth == 0
        });
        begin.map(|token| token.start)
    }

    /// The help for `t = value` without the assignment of an output.
    fn local_value(&self, expected: &[Rule]) -> Option<String> {
        let ends = expected.contains(&Rule::comma) || expected.contains(&Rule::assign);
        let [first, assign, ..] = self.tokens.as_slice() else { return None };
        let is_end = self.tokens.get(self.at).is_none_or(|token| token.text == "<");
        let name = first.text;
        (ends && is_end && first.kind == TokenKind::Word && assign.text == "=").then(|| {
            format!(
                "a tensor is assigned by its elements, `{name}[i,] = …, i < n`; `{name} = …,` names a value of \
                 the formula that follows in the same statement"
            )
        })
    }
}

/// Whether a token is within the part that is traversed from a point in it; `forward`: to the end of the part.
fn inside(forward: bool) -> impl FnMut(&&Token) -> bool {
    let mut depth = 0_i32;
    move |token| {
        let enters = match token.kind {
            TokenKind::Open(_) => forward,
            TokenKind::Close(_) => !forward,
            TokenKind::Comma => return depth > 0,
            _ => return true,
        };
        depth += if enters { 1 } else { -1 };
        depth >= 0
    }
}
