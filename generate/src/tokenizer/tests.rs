// SPDX-License-Identifier: Apache-2.0
//! The Python tests compare trained vocabularies with the packages tokenizers and sentencepiece (`test/tools/generate`).
use super::*;

fn vocabulary(kind: Kind, tokens: &[(&str, TokenKind)]) -> Vocabulary {
    Vocabulary {
        kind,
        tokens: tokens.iter().map(|(text, _)| (*text).to_owned()).collect(),
        kinds: tokens.iter().map(|(_, kind)| *kind).collect(),
        scores: (0..tokens.len()).map(|n| -(n as f64)).collect(),
        merges: Vec::new(),
        beginning: None,
        ends: Vec::new(),
        unknown: None,
        adds_beginning: false,
        adds_space: false,
    }
}

use TokenKind::{Byte, Control, Normal, Unknown, UserDefined};

fn bytes(merges: &[(&str, &str)]) -> Vocabulary {
    let tokens =
        [("a", Normal), ("b", Normal), ("Ġ", Normal), ("ab", Normal), ("Ġab", Normal), ("<end>", Control)];
    let splits = Splits::named("gpt-2").unwrap();
    let merges = merges.iter().map(|(first, second)| ((*first).to_owned(), (*second).to_owned())).collect();
    Vocabulary { merges, ..vocabulary(Kind::Bytes(splits), &tokens) }
}

#[test]
fn bytes_are_merged_in_order() {
    let tokenizer = Tokenizer::new(bytes(&[("a", "b"), ("Ġ", "ab")])).unwrap();
    assert_eq!(tokenizer.encode("ab ab ba", false).unwrap(), [3, 4, 2, 1, 0]);
    let joined: Vec<u8> = [3, 4, 2, 1, 0].iter().flat_map(|token| tokenizer.bytes(*token).to_vec()).collect();
    assert_eq!(joined, b"ab ab ba");
}

#[test]
fn marks_are_tokens_only_on_request() {
    let mut vocabulary = bytes(&[("a", "b")]);
    vocabulary.beginning = Some(5);
    vocabulary.adds_beginning = true;
    let tokenizer = Tokenizer::new(vocabulary).unwrap();
    assert_eq!(tokenizer.encode("a<end>b", true).unwrap(), [0, 5, 1]);
    let wrong = tokenizer.encode("a<end>b", false).unwrap_err().to_string();
    assert_eq!(wrong, "the vocabulary has no tokens for all bytes of `<`");
    assert_eq!(tokenizer.encode_prompt("a").unwrap(), [5, 0]);
    assert_eq!(tokenizer.encode_prompt("<end>a").unwrap(), [5, 0]);
    assert!(tokenizer.bytes(5).is_empty() && tokenizer.bytes(6).is_empty());
}

#[test]
fn contradicting_merges_are_refused() {
    for (merge, expected) in [
        (("a", "c"), "the merge of `a` and `c` needs the token `c`, which is missing"),
        (("ab", "ab"), "the merge of `ab` and `ab` needs the token `abab`, which is missing"),
        (("a", "<end>"), "the merge of `a` and `<end>` needs the token `<end>`, which is missing"),
    ] {
        let wrong = Tokenizer::new(bytes(&[merge])).err().map(|e| e.to_string());
        assert_eq!(wrong.as_deref(), Some(expected));
    }
}

#[test]
fn scores_select_merges() {
    let mut tokens = vec![("<unk>", Unknown), ("▁", Normal), ("a", Normal), ("b", Normal)];
    // `bb` has a higher score than `ab`.
    tokens.extend([
        ("bb", Normal),
        ("ab", Normal),
        ("▁a", Normal),
        ("<user>", UserDefined),
        ("<0xC3>", Byte),
    ]);
    tokens.push(("<0xA4>", Byte));
    let mut vocabulary = vocabulary(Kind::Scores, &tokens);
    vocabulary.unknown = Some(0);
    vocabulary.adds_space = true;
    let tokenizer = Tokenizer::new(vocabulary).unwrap();
    assert_eq!(tokenizer.encode("abb", false).unwrap(), [6, 4]);
    assert_eq!(tokenizer.encode("bab", false).unwrap(), [1, 3, 5]);
    // A character without a token is its bytes, if they have tokens.
    assert_eq!(tokenizer.encode("ä", false).unwrap(), [1, 8, 9]);
    assert_eq!(tokenizer.encode("é", false).unwrap(), [1, 0]);
    assert_eq!(tokenizer.encode("b<user>b", false).unwrap(), [1, 3, 7, 3]);
    assert_eq!(
        (tokenizer.bytes(6), tokenizer.bytes(8), tokenizer.bytes(0)),
        (&b" a"[..], &[0xc3][..], &[][..])
    );
}
