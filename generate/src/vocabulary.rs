// SPDX-License-Identifier: Apache-2.0
//! The vocabulary of a GGUF file: its tokens, and how text is split into them.

use skript_tensor::Gguf;

use crate::error::Error;
use crate::metadata::Metadata;
use crate::splits::Splits;

/// The maximum number of tokens.
const MAX_TOKENS: usize = 1 << 21;
/// The maximum length of a token in bytes.
const MAX_BYTES: usize = 1 << 12;

/// How tokens are found in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Merges of characters that stand for bytes, within the parts that these patterns match.
    Bytes(&'static Splits),
    /// Merges of characters by the scores of tokens, as SentencePiece does.
    Scores,
}

/// The meaning of a token, by its type in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Text.
    Normal,
    /// Text that the vocabulary does not have.
    Unknown,
    /// A mark that is not text, such as the end of a message.
    Control,
    /// Text that is always one token.
    UserDefined,
    /// No text.
    Unused,
    /// One byte.
    Byte,
}

const KINDS: [TokenKind; 6] = [
    TokenKind::Normal,
    TokenKind::Unknown,
    TokenKind::Control,
    TokenKind::UserDefined,
    TokenKind::Unused,
    TokenKind::Byte,
];

/// The keys of tokens that end a text or a message.
const ENDS: [&str; 3] =
    ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"];

/// The vocabulary of a file.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    pub(crate) kind: Kind,
    pub(crate) tokens: Vec<String>,
    pub(crate) kinds: Vec<TokenKind>,
    /// The scores of all tokens; empty for [`Kind::Bytes`].
    pub(crate) scores: Vec<f64>,
    /// Pairs of tokens, the first to be merged first; empty for [`Kind::Scores`].
    pub(crate) merges: Vec<(String, String)>,
    pub(crate) beginning: Option<u32>,
    pub(crate) ends: Vec<u32>,
    pub(crate) unknown: Option<u32>,
    /// Whether texts begin with the token `beginning`.
    pub(crate) adds_beginning: bool,
    /// Whether a space precedes texts.
    pub(crate) adds_space: bool,
}

impl Vocabulary {
    /// Reads the vocabulary of a file.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if it is missing, wrong or not supported.
    pub fn read(file: &Gguf) -> Result<Self, Error> {
        let metadata = Metadata(file);
        let kind = kind(metadata)?;
        let tokens = tokens(metadata)?;
        let count = tokens.len();
        let id = |key: &str| metadata.token(key, count);
        let mut ends = Vec::new();
        for key in ENDS {
            ends.extend(id(key)?.filter(|end| !ends.contains(end)));
        }
        let beginning = id("tokenizer.ggml.bos_token_id")?;
        let flag = |key: &str, default: bool| metadata.flag(key).map(|flag| flag.unwrap_or(default));
        let is_scored = kind == Kind::Scores;
        let begins = is_scored || matches!(kind, Kind::Bytes(splits) if splits.begins);
        Ok(Vocabulary {
            kind,
            kinds: kinds(metadata, count)?,
            scores: if is_scored { scores(metadata, count)? } else { Vec::new() },
            merges: if is_scored { Vec::new() } else { merges(metadata)? },
            unknown: id("tokenizer.ggml.unknown_token_id")?,
            adds_beginning: flag("tokenizer.ggml.add_bos_token", begins)? && beginning.is_some(),
            adds_space: flag("tokenizer.ggml.add_space_prefix", is_scored)? && is_scored,
            beginning,
            ends,
            tokens,
        })
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

fn kind(metadata: Metadata<'_>) -> Result<Kind, Error> {
    let (model, pre) = ("tokenizer.ggml.model", "tokenizer.ggml.pre");
    match metadata.text(model)? {
        None => Err(metadata.wrong(model, "is missing: the file has no tokenizer")),
        Some("llama") => Ok(Kind::Scores),
        Some("gpt2") => match metadata.text(pre)? {
            None => Err(metadata.wrong(pre, "is missing: the file does not state how text is split")),
            Some(name) => match Splits::named(name) {
                Some(splits) => Ok(Kind::Bytes(splits)),
                None => {
                    let text = format!("is `{}`; supported are {}", shown(name), Splits::names());
                    Err(metadata.wrong(pre, &text))
                }
            },
        },
        Some(other) => {
            let text = format!("is `{}`; supported are gpt2 and llama", shown(other));
            Err(metadata.wrong(model, &text))
        }
    }
}

/// The beginning of a text of the file, for messages.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

fn tokens(metadata: Metadata<'_>) -> Result<Vec<String>, Error> {
    let key = "tokenizer.ggml.tokens";
    let tokens = metadata.0.texts(key)?.ok_or_else(|| metadata.wrong(key, "is missing"))?;
    if tokens.is_empty() || tokens.len() > MAX_TOKENS {
        let text = format!("has {} tokens; supported are 1 to {MAX_TOKENS}", tokens.len());
        return Err(metadata.wrong(key, &text));
    }
    match tokens.iter().position(|token| token.len() > MAX_BYTES) {
        Some(at) => {
            Err(metadata.wrong(key, &format!("has a token of more than {MAX_BYTES} bytes at position {at}")))
        }
        None => Ok(tokens),
    }
}

fn kinds(metadata: Metadata<'_>, count: usize) -> Result<Vec<TokenKind>, Error> {
    let key = "tokenizer.ggml.token_type";
    let Some(codes) = metadata.0.ints(key)? else {
        return Ok(vec![TokenKind::Normal; count]);
    };
    has_length(metadata, key, codes.len(), count)?;
    let kind = |code: &i128| {
        let at = usize::try_from(*code).ok().and_then(|code| code.checked_sub(1));
        let kind = at.and_then(|at| KINDS.get(at)).copied();
        kind.ok_or_else(|| metadata.wrong(key, &format!("has the type {code}; types are 1 to 6")))
    };
    codes.iter().map(kind).collect()
}

fn scores(metadata: Metadata<'_>, count: usize) -> Result<Vec<f64>, Error> {
    let key = "tokenizer.ggml.scores";
    let scores = metadata.0.reals(key)?.ok_or_else(|| metadata.wrong(key, "is missing"))?;
    has_length(metadata, key, scores.len(), count)?;
    match scores.iter().find(|score| score.is_nan()) {
        Some(_) => Err(metadata.wrong(key, "has a NaN")),
        None => Ok(scores),
    }
}

fn merges(metadata: Metadata<'_>) -> Result<Vec<(String, String)>, Error> {
    let key = "tokenizer.ggml.merges";
    let merges = metadata.0.texts(key)?.ok_or_else(|| metadata.wrong(key, "is missing"))?;
    let pair = |(at, merge): (usize, &String)| {
        // A token may begin with a space, but is not empty.
        let start = merge.chars().next().map_or(0, char::len_utf8);
        let space = merge.get(start..).and_then(|rest| rest.find(' ')).map(|space| space + start);
        let pair = space.and_then(|space| Some((merge.get(..space)?, merge.get(space + 1..)?)));
        let pair = pair.filter(|(first, second)| !first.is_empty() && !second.is_empty());
        let wrong = || metadata.wrong(key, &format!("has a string without two tokens at position {at}"));
        pair.map(|(first, second)| (first.to_owned(), second.to_owned())).ok_or_else(wrong)
    };
    merges.iter().enumerate().map(pair).collect()
}

fn has_length(metadata: Metadata<'_>, key: &str, length: usize, count: usize) -> Result<(), Error> {
    if length == count {
        return Ok(());
    }
    Err(metadata.wrong(key, &format!("has {length} items, but the vocabulary has {count} tokens")))
}
