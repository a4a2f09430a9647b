// SPDX-License-Identifier: Apache-2.0
//! Converts between text and numbers of tokens.

use aho_corasick::{AhoCorasick, MatchKind};
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{
    Model, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, SplitDelimiterBehavior,
};

use crate::error::Error;
use crate::pieces::{SPACE, bytes_of_tokens};
use crate::splits::Splits;
use crate::vocabulary::{Kind, TokenKind, Vocabulary};

/// The longest token, in bytes, that merges by scores result in. Longer tokens of SentencePiece are user-defined.
const MAX_MERGED: usize = 256;

/// The maximum number of pairs of tokens that form tokens, which is quadratic in the lengths of tokens.
const MAX_MERGES: usize = 1_500_000;

/// The tokenizer of a file.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    bytes: Vec<Box<[u8]>>,
    merging: BPE,
    splits: Vec<Split>,
    user_defined: Marks,
    /// User-defined tokens, and tokens that are not text.
    all: Marks,
}

/// Tokens that are found in text before it is split, the longest at a position.
struct Marks {
    finder: AhoCorasick,
    tokens: Vec<u32>,
}

impl Tokenizer {
    /// Makes the tokenizer of a vocabulary.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if merges contradict the tokens, or tokens of bytes have a wrong form.
    pub fn new(vocabulary: Vocabulary) -> Result<Self, Error> {
        let bytes = bytes_of_tokens(&vocabulary)?;
        let (merging, splits) = match vocabulary.kind {
            Kind::Bytes(splits) => (merging_of_bytes(&vocabulary, splits)?, patterns(splits)?),
            Kind::Scores => (merging_by_scores(&vocabulary)?, Vec::new()),
        };
        let user_defined = Marks::new(&vocabulary, &[TokenKind::UserDefined])?;
        let all = Marks::new(&vocabulary, &[TokenKind::UserDefined, TokenKind::Control])?;
        Ok(Tokenizer { bytes, merging, splits, user_defined, all, vocabulary })
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The tokens of a text; marks such as `<|im_end|>` are text unless `has_marks`. Without a token for the beginning or the end.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if the vocabulary does not have a character of the text.
    pub fn encode(&self, text: &str, has_marks: bool) -> Result<Vec<u32>, Error> {
        let marks = if has_marks { &self.all } else { &self.user_defined };
        let (mut tokens, mut end) = (Vec::new(), 0);
        for (start, stop, token) in marks.find(text) {
            self.encode_text(text.split_at(start).0.split_at(end).1, end == 0 || has_marks, &mut tokens)?;
            tokens.push(token);
            end = stop;
        }
        self.encode_text(text.split_at(end).1, end == 0 || has_marks, &mut tokens)?;
        Ok(tokens)
    }

    /// The tokens of a text that a model continues, with that of the beginning if the file states it. Marks in the text are tokens;
    /// a text that has the beginning does not get another one.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] as for [`Tokenizer::encode`]; [`Error::Option`] if the result is empty.
    pub fn encode_prompt(&self, text: &str) -> Result<Vec<u32>, Error> {
        let mut tokens = self.encode(text, true)?;
        let beginning = self.vocabulary.beginning.filter(|_| self.vocabulary.adds_beginning);
        if let Some(beginning) = beginning.filter(|beginning| tokens.first() != Some(beginning)) {
            tokens.insert(0, beginning);
        }
        if tokens.is_empty() {
            return Err(Error::Option("the prompt is empty: pass a text".to_owned()));
        }
        Ok(tokens)
    }

    /// The minimum number of tokens of a text. Computing it is faster than splitting the text.
    pub fn min_tokens(&self, text: &str) -> usize {
        let longest = self.vocabulary.tokens.iter().map(String::len).fold(1, usize::max);
        text.len().div_ceil(longest)
    }

    /// The bytes of a token; empty if it is not text or does not exist.
    pub fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], |bytes| bytes)
    }

    /// Whether a token ends a text or a message.
    pub fn is_end(&self, token: u32) -> bool {
        self.vocabulary.ends.contains(&token)
    }

    /// The text of a token, also if it is a mark.
    pub(crate) fn mark(&self, token: Option<u32>) -> &str {
        token.and_then(|token| self.vocabulary.tokens.get(token as usize)).map_or("", String::as_str)
    }

    /// Appends the tokens of a text without marks.
    fn encode_text(&self, text: &str, follows_mark: bool, tokens: &mut Vec<u32>) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        if self.vocabulary.kind == Kind::Scores {
            let space = if self.vocabulary.adds_space && follows_mark { " " } else { "" };
            let text = format!("{space}{text}").replace(' ', SPACE.encode_utf8(&mut [0; 4]));
            return self.merge(&text, tokens);
        }
        let mut parts = PreTokenizedString::from(text);
        for split in &self.splits {
            split.pre_tokenize(&mut parts).map_err(failed)?;
        }
        ByteLevel::new(false, false, false).pre_tokenize(&mut parts).map_err(failed)?;
        for (part, _, _) in parts.get_splits(OffsetReferential::Original, OffsetType::Byte) {
            self.merge(part, tokens)?;
        }
        Ok(())
    }

    /// Appends the tokens of one part.
    fn merge(&self, part: &str, tokens: &mut Vec<u32>) -> Result<(), Error> {
        let merged = self.merging.tokenize(part).map_err(failed)?;
        // The crate omits characters that it has no token for.
        let covered = merged.iter().map(|token| token.offsets.1).fold(0, usize::max);
        let total: usize = merged.iter().map(|token| token.offsets.1 - token.offsets.0).sum();
        if self.vocabulary.kind != Kind::Scores && (covered != part.len() || total != part.len()) {
            let text: String = part.chars().take(20).collect();
            return Err(Error::Tokenizer(format!("the vocabulary has no tokens for all bytes of `{text}`")));
        }
        tokens.extend(merged.iter().map(|token| token.id));
        Ok(())
    }
}

fn failed(error: tokenizers::Error) -> Error {
    Error::Tokenizer(format!("the text cannot be split into tokens: {error}"))
}

fn patterns(splits: &Splits) -> Result<Vec<Split>, Error> {
    let split = |pattern: &&str| {
        let pattern = SplitPattern::Regex((*pattern).to_owned());
        Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map_err(failed)
    };
    splits.patterns.iter().map(split).collect()
}

/// The tokens of these kinds by their texts. Of equal texts, the last has the number, as in llama.cpp.
fn numbers(vocabulary: &Vocabulary, kinds: &[TokenKind]) -> Vocab {
    let tokens = vocabulary.tokens.iter().zip(&vocabulary.kinds).zip(0u32..);
    let texts = tokens.filter(|((_, kind), _)| kinds.contains(kind));
    texts.map(|((token, _), number)| (token.clone(), number)).collect()
}

fn merging_of_bytes(vocabulary: &Vocabulary, splits: &Splits) -> Result<BPE, Error> {
    let numbers = numbers(vocabulary, &[TokenKind::Normal, TokenKind::UserDefined, TokenKind::Byte]);
    for (first, second) in &vocabulary.merges {
        let merged = format!("{first}{second}");
        if let Some(missing) = [first, second, &merged].into_iter().find(|text| !numbers.contains_key(*text))
        {
            let shown: String = missing.chars().take(40).collect();
            let text =
                format!("the merge of `{first}` and `{second}` needs the token `{shown}`, which is missing");
            return Err(Error::Tokenizer(text));
        }
    }
    let merging = BPE::builder().ignore_merges(splits.is_whole);
    merging.vocab_and_merges(numbers, vocabulary.merges.clone()).build().map_err(failed)
}

/// Merges two tokens if the result is a token, the result with the highest score first.
fn merging_by_scores(vocabulary: &Vocabulary) -> Result<BPE, Error> {
    let texts = numbers(vocabulary, &[TokenKind::Normal]);
    let mut merges = Vec::new();
    for (text, number) in texts.iter().filter(|(text, _)| text.len() <= MAX_MERGED) {
        let Some(score) = vocabulary.scores.get(*number as usize) else { continue };
        for (at, _) in text.char_indices().skip(1) {
            let (first, second) = text.split_at(at);
            if texts.contains_key(first) && texts.contains_key(second) {
                merges.push((*score, *number, first.to_owned(), second.to_owned()));
            }
        }
        if merges.len() > MAX_MERGES {
            return Err(Error::Tokenizer(format!(
                "the tokens of `tokenizer.ggml.tokens` are pairs of other tokens in more than {MAX_MERGES} ways"
            )));
        }
    }
    merges.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2)));
    let merges = merges.into_iter().map(|(_, _, first, second)| (first, second)).collect();
    let mut builder = BPE::builder().byte_fallback(true).fuse_unk(false);
    let mut numbers = numbers(vocabulary, &[TokenKind::Byte, TokenKind::Normal]);
    if let Some(unknown) = vocabulary.unknown
        && let Some(text) = vocabulary.tokens.get(unknown as usize)
    {
        numbers.insert(text.clone(), unknown);
        builder = builder.unk_token(text.clone());
    }
    builder.vocab_and_merges(numbers, merges).build().map_err(failed)
}

impl Marks {
    fn new(vocabulary: &Vocabulary, kinds: &[TokenKind]) -> Result<Self, Error> {
        let marks = numbers(vocabulary, kinds).into_iter().filter(|(text, _)| !text.is_empty());
        let (texts, tokens): (Vec<String>, Vec<u32>) = marks.unzip();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts);
        let finder = finder.map_err(|e| Error::Tokenizer(format!("the special tokens are too many: {e}")))?;
        Ok(Marks { finder, tokens })
    }

    /// The start, the end and the number of each token in a text.
    fn find(&self, text: &str) -> impl Iterator<Item = (usize, usize, u32)> {
        self.finder.find_iter(text).filter_map(|found| {
            let token = self.tokens.get(found.pattern().as_usize())?;
            Some((found.start(), found.end(), *token))
        })
    }
}

#[cfg(test)]
mod tests;
