# SPDX-License-Identifier: Apache-2.0
"""Vocabularies trained on a small text, for GGUF files, with the packages that define their tokens.

A vocabulary has `count` tokens, `describe(writer)`, which writes its metadata, and `encode(text)`, the numbers of tokens.
"""
import io

import gguf
import sentencepiece
import tokenizers
from tokenizers import models, pre_tokenizers, trainers

CORPUS = [
    "The quick brown fox jumps over the lazy dog. It doesn't care; they're fast, and we've seen 12345 of them in 2024.",
    "Once upon a time there was a model. The model read text, and the text was read by the model again and again.",
    "def f(x):\n    return x  +  1\n\n\nprint(f(41))\n\t# a comment, with   spaces",
    "Größe, naïve, façade — “quoted” … 日本語のテキスト и русский текст 😀 👍🏽",
    "aaaa bbbb aaab abab ===== ----- ++++ 1,000,000.50 100% $5 @user #tag",
] * 3

TEXTS = [
    "The quick brown fox", " leading space", "trailing space ", "  two  spaces   three", "a\nb\n\nc\n", "\t tab\r\nline\r\n",
    "It's we're I'VE they'Ll don't", "12345 1,000.5 2024x7 ³ ½ Ⅷ", "def f(x):\n    return x + 1", "Größe naïve façade",
    "日本語のテキスト", "русский 😀 👍🏽 \u200b", "“quoted” … — -", "aaaaaaaaa  ======= ----", "x" * 50, "\u0000\u0001 \u007f", "a\u00a0b\u3000c",
    "!!!??? ...", "e\u0301 combining", "\U0001f9d1\u200d\U0001f4bb", "\n", " ", "   ", "Ⅷ's 's", "<s> </s> <unk>", "camelCaseWord HTTPServer",
]

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def split(pattern):
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"), byte_level])


# The pre-tokenizers as the tokenizer.json files of these models have them, and whether a part may be one token without merges.
PRE_TOKENIZERS = {
    "gpt-2": (lambda: pre_tokenizers.ByteLevel(add_prefix_space=False), False),
    "smollm": (lambda: pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                pre_tokenizers.ByteLevel(add_prefix_space=False)]), False),
    "llama-bpe": (lambda: split(LLAMA3), True),
    "qwen2": (lambda: split(LLAMA3.replace("{1,3}", "")), False),
    "tekken": (lambda: split(TEKKEN), True),
}
MARKS = ["<|end|>", "<|im_start|>", "<|im_end|>"]


class Bytes:
    """Merges of bytes, as in GPT-2, by the package tokenizers."""

    def __init__(self, name, template=None):
        self.name, self.template = name, template
        make, is_whole = PRE_TOKENIZERS[name]
        trained = tokenizers.Tokenizer(models.BPE())
        trained.pre_tokenizer = make()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trained.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=520, initial_alphabet=alphabet, show_progress=False))
        state = __import__("json").loads(trained.to_str())["model"]
        self.vocabulary = sorted(state["vocab"], key=state["vocab"].get)
        self.merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in state["merges"]]
        merges = [tuple(pair.split(" ")) for pair in self.merges]
        self.model = tokenizers.Tokenizer(models.BPE(state["vocab"], merges, ignore_merges=is_whole))
        self.model.pre_tokenizer = make()
        self.count = len(self.vocabulary) + len(MARKS)
        self.end = self.count - 1

    def describe(self, writer):
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(self.name)
        writer.add_token_list(self.vocabulary + MARKS)
        writer.add_token_types([gguf.TokenType.NORMAL] * len(self.vocabulary) + [gguf.TokenType.CONTROL] * len(MARKS))
        writer.add_token_merges(self.merges)
        writer.add_bos_token_id(self.end - 1)
        writer.add_eos_token_id(self.end)
        writer.add_add_bos_token(False)
        if self.template:
            writer.add_chat_template(self.template)

    def encode(self, text):
        return self.model.encode(text).ids

    def decode(self, ids):
        byte = {character: number for number, character in sorted(gpt2_characters().items())}
        return b"".join(bytes(byte[c] for c in self.vocabulary[i]) for i in ids if i < len(self.vocabulary))


def gpt2_characters():
    """The character of each byte."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in visible]
    return {**{b: chr(b) for b in visible}, **{b: chr(256 + n) for n, b in enumerate(others)}}


class Scores:
    """Merges by scores, by the package sentencepiece."""

    def __init__(self, adds_space=True):
        data = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS), model_writer=data, vocab_size=420, model_type="bpe", byte_fallback=True,
            character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False,
            add_dummy_prefix=adds_space, allow_whitespace_only_pieces=True, split_digits=True, minloglevel=2)
        self.adds_space = adds_space
        self.model = sentencepiece.SentencePieceProcessor(model_proto=data.getvalue())
        self.count = self.model.vocab_size()

    def kind(self, i):
        model = self.model
        kinds = [(model.is_unknown, gguf.TokenType.UNKNOWN), (model.is_control, gguf.TokenType.CONTROL),
                 (model.is_byte, gguf.TokenType.BYTE)]
        return next((kind for is_kind, kind in kinds if is_kind(i)), gguf.TokenType.NORMAL)

    def describe(self, writer):
        numbers = range(self.count)
        writer.add_tokenizer_model("llama")
        writer.add_token_list([self.model.id_to_piece(i) for i in numbers])
        writer.add_token_scores([self.model.get_score(i) for i in numbers])
        writer.add_token_types([self.kind(i) for i in numbers])
        writer.add_bos_token_id(self.model.bos_id())
        writer.add_eos_token_id(self.model.eos_id())
        writer.add_unk_token_id(self.model.unk_id())
        writer.add_add_space_prefix(self.adds_space)

    def encode(self, text):
        return [self.model.bos_id()] + self.model.encode(text)
