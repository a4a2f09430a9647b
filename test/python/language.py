# SPDX-License-Identifier: Apache-2.0
"""Tests of language models: tokens, streaming, options and errors. numpy computes the expected texts.

    language.py [--installed] [unittest arguments]
"""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / part) for part in ("test/python", "test/tools/import/inputs", "test/tools/generate/inputs")]
import package  # noqa: E402, F401  places the packages
import gguf_models  # noqa: E402
import numpy  # noqa: E402
import skript  # noqa: E402
import vocabularies  # noqa: E402

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}"


class LanguageModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = cls.folder.name + "/model.gguf"
        cls.vocabulary = vocabularies.Bytes("qwen2", TEMPLATE)
        gguf_models.write(cls.path, "qwen2", cls.vocabulary.count, cls.vocabulary.describe)
        cls.model = skript.LanguageModel(cls.path)
        cls.numpy = gguf_models.Model(cls.path)

    def expected(self, prompt, count):
        tokens = list(prompt)
        for _ in range(count):
            tokens.append(int(self.numpy.logits(numpy.array(tokens))[-1].argmax()))
        return tokens[len(prompt):]

    def test_text_is_greedy_with_temperature_0(self):
        prompt = self.vocabulary.encode("The quick brown")
        self.assertEqual(self.model.encode("The quick brown"), prompt)
        text = skript.generate(self.model, "The quick brown", max_tokens=10, temperature=0)
        self.assertIs(iter(text), text)
        parts = list(text)
        expected = self.expected(prompt, 10)
        self.assertEqual(text.tokens, expected)
        self.assertEqual("".join(parts), self.vocabulary.decode(expected).decode("utf-8", "replace"))
        self.assertEqual(text.ending, "length")
        self.assertGreater(len(parts), 1)
        self.assertEqual("".join(skript.generate(self.path, "The quick brown", max_tokens=10, temperature=0)), "".join(parts))

    def test_activations_in_8_bits(self):
        model = skript.LanguageModel(self.path, activations="int8")
        text = model.generate("The quick brown", max_tokens=3, temperature=0)
        list(text)
        self.assertEqual(len(text.tokens), 3)
        with self.assertRaisesRegex(ValueError, "activations are 'real' or 'int8', not \"int4\""):
            skript.LanguageModel(self.path, activations="int4")

    def test_messages_of_an_iterator(self):
        messages = [{"role": "user", "content": "a"}]
        texts = [self.model.generate(given, max_tokens=3, temperature=0) for given in (messages, iter(messages))]
        for text in texts:
            list(text)
        self.assertEqual(texts[0].tokens, texts[1].tokens)

    def test_messages_are_written_by_the_template(self):
        messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        text = self.model.generate(messages, max_tokens=5, temperature=0)
        list(text)
        prompt = self.model.encode("<|im_start|>user: a<|im_end|><|im_start|>assistant: b<|im_end|>")
        self.assertEqual(prompt[0], self.vocabulary.end - 1)
        self.assertEqual(text.tokens, self.expected(prompt, 5))

    def test_texts_take_turns(self):
        first = self.model.generate("one", max_tokens=8, temperature=0)
        second = self.model.generate("two", max_tokens=8, temperature=0)
        for _ in range(20):
            next(first, None), next(second, None)
        self.assertEqual(first.tokens, self.expected(self.model.encode("one"), 8))
        self.assertEqual(second.tokens, self.expected(self.model.encode("two"), 8))

    def test_texts_of_a_list_are_those_of_single_calls(self):
        prompts = ["one", "The quick brown fox", "a"]
        options = dict(max_tokens=8, temperature=1.5, seed=3, stop=["~"])
        single = [self.model.generate(prompt, **options) for prompt in prompts]
        single = [("".join(text), text.tokens, text.ending) for text in single]
        parts = []
        texts = skript.generate(self.model, prompts, callback=lambda number, part: parts.append((number, part)), **options)
        joined = ["".join(part for number, part in parts if number == n) for n in range(3)]
        self.assertEqual([(text, g.tokens, g.ending) for text, g in zip(joined, texts)], single)
        # Parts of the texts take turns.
        self.assertEqual([number for number, _ in parts[:6]], [0, 1, 2, 0, 1, 2])
        # Without a callback, each text is an iterator.
        lazy = self.model.generate(tuple(prompts), **options)
        self.assertEqual(lazy[1].tokens, [])
        self.assertEqual(["".join(text) for text in reversed(lazy)], [text for text, _, _ in reversed(single)])
        greedy = self.model.generate(["one", [{"role": "user", "content": "a"}]], max_tokens=4, temperature=0)
        for _ in range(9):
            [next(text, None) for text in greedy]
        self.assertEqual(greedy[0].tokens, self.expected(self.model.encode("one"), 4))
        self.assertEqual(greedy[1].tokens, self.expected(self.model.encode("<|im_start|>user: a<|im_end|>"), 4))

    def test_an_error_of_a_callback_ends_the_texts(self):
        def refuse(number, part):
            raise KeyError(number)
        with self.assertRaises(KeyError):
            self.model.generate(["a", "b"], max_tokens=8, callback=refuse)
        with self.assertRaisesRegex(ValueError, "'callback' is for a list of prompts"):
            self.model.generate("a", callback=refuse)
        with self.assertRaises((TypeError, KeyError, AttributeError)):
            self.model.generate(["a", 3])
        self.assertEqual(len(list(self.model.generate("a", max_tokens=2, temperature=0))) > 0, True)

    def test_seeds_and_stops(self):
        options = dict(max_tokens=12, temperature=2.0, top_k=0, top_p=1.0, min_p=0.0)
        texts = ["".join(self.model.generate("a", seed=seed, **options)) for seed in (1, 1, 2)]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])
        stop = re.search("[a-z]{2}", texts[0])[0]
        stopped = self.model.generate("a", seed=1, stop=[stop], **options)
        self.assertEqual("".join(stopped), texts[0][:texts[0].index(stop)])
        self.assertEqual(stopped.ending, "stop")

    def test_the_context_ends_texts(self):
        model = skript.LanguageModel(self.path, context=8, threads=1)
        self.assertEqual(model.context, 8)
        text = model.generate("a b", temperature=0)
        list(text)
        self.assertEqual((text.ending, len(text.tokens)), ("context", 8 - len(model.encode("a b"))))
        with self.assertRaisesRegex(skript.Error, "the text has .* tokens, but the context has 8"):
            model.generate("a b c d e f g h i j")

    def test_errors(self):
        with self.assertRaises(FileNotFoundError):
            skript.LanguageModel("nowhere.gguf")
        with self.assertRaisesRegex(ValueError, "top_p is 2; it must be above 0 and at most 1"):
            self.model.generate("a", top_p=2.0)
        with self.assertRaisesRegex(ValueError, "options of LanguageModel"):
            skript.generate(self.model, "a", context=5)
        with self.assertRaises((TypeError, KeyError)):
            self.model.generate([{"role": "user"}])
        with self.assertRaisesRegex(skript.Error, "--context is 65; the model supports 1 to 64 tokens"):
            skript.LanguageModel(self.path, context=65)


if __name__ == "__main__":
    unittest.main()
