//! What MLIR's reader passes over, or takes very long for, and no program holds: told before it reads.

use super::program::Refusal;

/// Digits of an integer. The widest element has twenty; MLIR takes time that grows with the cube of their number.
const DIGITS: usize = 1000;

/// How bytecode of MLIR begins, by itself or in a larger file, where every byte that is no UTF-8 was replaced.
const BYTECODE: &str = "ML\u{fffd}R";

/// How programs in the text of HLO begin.
const HLO: &str = "HloModule";

/// The first such thing in a text.
pub fn refusal(text: &str) -> Option<Refusal> {
    let (at, message) = if text.contains(BYTECODE) {
        let message = "this is bytecode: write the program as text, such as `str(exported.mlir_module())` in jax";
        (0, message.to_owned())
    } else if text.trim_start().starts_with(HLO) {
        let message = "this is HLO, not StableHLO: write the program as `lowered.as_text()` does in jax, before it is compiled";
        (0, message.to_owned())
    } else if let Some(at) = text.find('\0') {
        (
            at,
            "there is a character NUL, which no program holds".to_owned(),
        )
    } else {
        let (at, digits) = long_integer(text)?;
        let message = format!("an integer of {digits} digits is out of range for every type");
        (at, message)
    };
    Some(Refusal::malformed_at(text, at, message))
}

/// Where an integer of too many digits stands, outside of strings and comments, and how many it has.
fn long_integer(text: &str) -> Option<(usize, usize)> {
    let (mut quoted, mut remark, mut digits, mut before) = (false, false, 0, b'\n');
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' => (quoted, remark) = (false, false),
            b'"' if !remark && before != b'\\' => quoted = !quoted,
            b'/' if !quoted && before == b'/' => remark = true,
            _ => {}
        }
        before = byte;
        if !byte.is_ascii_digit() || quoted || remark {
            digits = 0;
            continue;
        }
        digits += 1;
        let next = bytes.peek().map_or(b'\n', |(_, byte)| *byte);
        if digits > DIGITS && !next.is_ascii_digit() && next != b'.' {
            return Some((at + 1 - digits, digits));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_are_found_where_the_reader_would_count_them() {
        let many = "1".repeat(DIGITS + 1);
        let at = |text: &str| long_integer(text);
        assert_eq!(at(&format!("x\n dense<{many}>")), Some((9, DIGITS + 1)));
        assert_eq!(at(&format!("dense<-{many}")), Some((7, DIGITS + 1)));
        for other in [
            format!("dense<{many}.5>"),
            format!("dense<\"0x{many}\">"),
            format!("// {many}"),
            format!("dense<{}>", &many[1..]),
        ] {
            assert_eq!(at(&other), None, "{other}");
        }
    }
}
