// SPDX-License-Identifier: Apache-2.0
//! Joins the bytes of tokens to text.

/// Text that grows by the bytes of tokens. Bytes remain in it until they are complete characters, and until they cannot be the
/// beginning of a stop string.
#[derive(Clone, Debug, Default)]
pub struct TextStream {
    pending: Vec<u8>,
    stops: Vec<String>,
    is_stopped: bool,
}

impl TextStream {
    /// A stream that ends before the first of these strings. Empty strings are ignored.
    pub fn new(stops: &[String]) -> Self {
        let stops = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        TextStream { stops, ..TextStream::default() }
    }

    /// Adds bytes; returns the text that is complete.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        if self.is_stopped {
            return String::new();
        }
        self.pending.extend_from_slice(bytes);
        if let Some(at) = self.stops.iter().filter_map(|stop| find(&self.pending, stop.as_bytes())).min() {
            self.pending.truncate(at);
            self.is_stopped = true;
            return self.finish();
        }
        let kept = self.stops.iter().map(|stop| overlap(&self.pending, stop.as_bytes())).fold(0, usize::max);
        let end = self.pending.len() - kept.max(incomplete(&self.pending));
        let rest = self.pending.split_off(end);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        text
    }

    /// Whether a stop string was found.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The rest of the text. Incomplete characters become U+FFFD.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

/// The position of a string.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The length of the longest end of `bytes` that is a beginning of `wanted`.
fn overlap(bytes: &[u8], wanted: &[u8]) -> usize {
    let longest = bytes.len().min(wanted.len());
    let is_end = |length: &usize| bytes.ends_with(wanted.split_at(*length).0);
    (1..=longest).filter(is_end).fold(0, usize::max)
}

/// The number of bytes at the end that begin a character without completing it.
fn incomplete(bytes: &[u8]) -> usize {
    let is_start = |byte: &u8| byte & 0xc0 != 0x80;
    let mut last = bytes.iter().rev().zip(1..=4);
    let Some((start, length)) = last.find(|(byte, _)| is_start(byte)) else {
        return 0;
    };
    let needed = match start {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if needed > length { length } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_complete() {
        let mut stream = TextStream::default();
        let texts: Vec<String> = "a€😀".bytes().map(|byte| stream.push(&[byte])).collect();
        assert_eq!(texts, ["a", "", "", "€", "", "", "", "😀"]);
        assert_eq!(stream.push(&[0xe2, 0x82]), "");
        assert_eq!(stream.finish(), "\u{fffd}");
    }

    /// Bytes that begin no character do not delay text.
    #[test]
    fn wrong_bytes_are_replaced() {
        let mut stream = TextStream::default();
        assert_eq!(stream.push(&[0xff]), "\u{fffd}");
        assert_eq!(stream.push(&[0x80, b'a']), "\u{fffd}a");
    }

    #[test]
    fn text_ends_before_stop_strings() {
        let mut stream = TextStream::new(&["<end>".to_owned(), String::new()]);
        assert_eq!(stream.push(b"a <e"), "a ");
        assert_eq!(stream.push(b"x<"), "<ex");
        assert!(!stream.is_stopped());
        assert_eq!(stream.push(b"end> b"), "");
        assert!(stream.is_stopped());
        assert_eq!(stream.push(b"c"), "");
        // Text that only begins like the stop string.
        let mut stream = TextStream::new(&["\n\n".to_owned()]);
        assert_eq!(stream.push(b"a\n"), "a");
        assert_eq!(stream.finish(), "\n");
    }
}
