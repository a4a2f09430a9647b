# SPDX-License-Identifier: Apache-2.0
"""Compares the tokens of prompts with those of the packages tokenizers and sentencepiece.

    tokens.py FOLDER
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../import/inputs"))
import gguf_models
import vocabularies


def shown(path, text):
    """The tokens of a prompt."""
    command = ["skript", "generate", path, "--prompt=" + text, "--max-tokens=0", "--verbose", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (text, done.stderr)
    prompt, tokens = done.stderr.splitlines()
    assert json.loads(prompt.removeprefix("prompt: ")) == text
    return json.loads(tokens.removeprefix("tokens: "))


def check(folder, name, vocabulary):
    path = os.path.join(folder, name + ".gguf")
    gguf_models.write(path, "f32", vocabulary.count, vocabulary.describe)
    # An argument of a command has no NUL; marks of a vocabulary by scores are tokens.
    texts = [text.replace("\0", "") for text in vocabularies.TEXTS]
    for text in texts:
        if name.startswith("scores") and "<s>" in text:
            continue
        expected = vocabulary.encode(text)
        got = shown(path, text)
        assert got == expected, "%s: %r: %s instead of %s" % (name, text, got, expected)
    print("%s: %d texts of %d tokens" % (name, len(texts), sum(len(vocabulary.encode(text)) for text in texts)))
    return path


def main(folder):
    for name in vocabularies.PRE_TOKENIZERS:
        vocabulary = vocabularies.Bytes(name)
        path = check(folder, name, vocabulary)
    # Marks in a prompt are tokens.
    end = vocabulary.end
    expected = [end - 1, *vocabulary.encode("a"), end, *vocabulary.encode(" b")]
    assert shown(path, "<|im_start|>a<|im_end|> b") == expected
    check(folder, "scores", vocabularies.Scores())
    check(folder, "scores-without-space", vocabularies.Scores(adds_space=False))


main(sys.argv[1])
