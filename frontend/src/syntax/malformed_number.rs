// SPDX-License-Identifier: Apache-2.0
//! Numbers in the notation of other languages.

use super::expectation::Found;

/// A malformed number.
pub(super) struct MalformedNumber {
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// The number as the language writes it.
    pub(super) fix: Option<String>,
    /// The offset of its end, relative to the parsed text.
    pub(super) end: usize,
}

/// The message and the help for a number in another notation; `None` for numbers and names.
pub(super) fn malformed(found: &Found) -> Option<MalformedNumber> {
    let text = whole_number(found.statement.get(found.start..)?);
    let end = found.start + text.len();
    let (message, help) = explain(text)?;
    let fix = help
        .as_deref()
        .and_then(|help| help.strip_suffix('`')?.rsplit_once('`'))
        .map(|(_, fix)| fix.to_string());
    Some(MalformedNumber { message, help, fix, end })
}

/// The number with its suffixes at the beginning of a text.
fn whole_number(rest: &str) -> &str {
    let mut before = '\0';
    let length = rest.char_indices().find(|(at, c)| {
        let is_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E') && !rest.starts_with("0x");
        let is_point =
            *c == '.' && before != '.' && rest.get(at + 1..).is_some_and(|rest| !rest.starts_with('.'));
        before = *c;
        !(c.is_ascii_alphanumeric() || *c == '_' || is_sign || is_point)
    });
    rest.split_at(length.map_or(rest.len(), |(at, _)| at)).0
}

/// The number of digits at the beginning of a text.
fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

fn explain(text: &str) -> Option<(String, Option<String>)> {
    if text.strip_prefix('.').is_some_and(|rest| digits(rest) > 0) {
        return Some((format!("`{text}` has no digit before the point"), Some(format!("write `0{text}`"))));
    }
    let whole = digits(text);
    if whole == 0 {
        return None;
    }
    let (_, rest) = text.split_at(whole);
    let fraction = rest.strip_prefix('.').map_or(0, |rest| 1 + digits(rest));
    let (_, rest) = rest.split_at(fraction);
    let exponent = rest.strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['+', '-']));
    let number = match exponent {
        Some("") => return Some((format!("the exponent of `{text}` has no digits"), None)),
        Some(exponent) if digits(exponent) > 0 => text.len() - exponent.len() + digits(exponent),
        _ => whole + fraction,
    };
    let (number, suffix) = text.split_at(number);
    let is_malformed = !matches!(suffix, "" | ".");
    is_malformed
        .then(|| (format!("`{text}` is neither a number nor a name"), correction(text, number, suffix)))
}

/// How to write a number of another language; `suffix` follows the digits of `number`.
fn correction(text: &str, number: &str, suffix: &str) -> Option<String> {
    let radix = match suffix.get(..1)? {
        "x" | "X" => 16,
        "b" | "B" => 2,
        "o" | "O" => 8,
        _ => 10,
    };
    if number == "0"
        && radix != 10
        && let Ok(value) = i64::from_str_radix(suffix.get(1..)?, radix)
    {
        return Some(format!("numbers are decimal: write `{value}`"));
    }
    if suffix.starts_with('_') && text.bytes().all(|c| c.is_ascii_digit() || c == b'_') {
        return Some(format!("write `{}`", text.replace('_', "")));
    }
    let is_real = number.contains(['.', 'e', 'E']);
    let kind = suffix.trim_end_matches(|c: char| c.is_ascii_digit());
    match kind {
        "f" | "F" | "d" | "D" | "h" | "H" | "bf" if is_real => {
            Some(format!("numbers have no suffix: write `{number}`"))
        }
        "f" | "F" | "d" | "D" | "h" | "H" | "bf" => {
            Some(format!("numbers have no suffix: write `{number}.0`"))
        }
        "u" | "U" | "l" | "L" | "i" | "ul" | "UL" | "ll" | "LL" => {
            Some(format!("numbers have no suffix: write `{number}`"))
        }
        _ if suffix.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_real => {
            Some(format!("a product is written `{number} * {suffix}`"))
        }
        _ => None,
    }
}
