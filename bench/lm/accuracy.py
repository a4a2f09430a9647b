#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the effect of `--activations=int8` on a language model: on the logits and on the perplexity of a text.

    bench/lm/accuracy.py FILE.gguf [--text docs/language.md] [--tokens 512] [--windows 4]

The text is divided into windows of tokens, which the model reads separately. The perplexity is that of all tokens after the first one
of each window. The difference of logits is relative to the largest magnitude in their row.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tokens_of(skript, model, text):
    """The numbers of the tokens, which `--verbose` prints."""
    command = [skript, "generate", model, "--verbose", "-n", "1", "--temperature", "0", "--prompt", text]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    numbers = re.search(r"^tokens:? *\[?([\d, ]+)", printed, re.MULTILINE)
    return [int(number) for number in re.findall(r"\d+", numbers[1])]


def logits_of(skript, folder, tokens):
    np.save(folder / "tokens.npy", np.array(tokens, dtype=np.int64))
    subprocess.run([skript, "run", folder, "--input", "tokens=%s" % (folder / "tokens.npy"), "--output-dir", folder / "out"], check=True,
                   stdout=subprocess.DEVNULL)
    return np.load(folder / "out/logits.npy").astype(np.float64)


def surprise(logits, tokens):
    """The negative logarithms of the probabilities of all tokens but the first one."""
    shifted = logits[:-1] - logits[:-1].max(-1, keepdims=True)
    return np.log(np.exp(shifted).sum(-1)) - shifted[np.arange(len(tokens) - 1), tokens[1:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--text", default=str(ROOT / "docs/language.md"))
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--windows", type=int, default=4)
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    options = parser.parse_args()
    text = pathlib.Path(options.text).read_text()
    surprises, differences, equal = {"real": [], "int8": []}, [], []
    with tempfile.TemporaryDirectory() as directory:
        folders = {kind: pathlib.Path(directory) / kind for kind in surprises}
        for kind, folder in folders.items():
            command = [options.skript, "import", options.model, "-o", folder, "--activations", kind, "--context", str(options.tokens)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for window in range(options.windows):
            # A token of an English text has about four characters.
            part = text[4 * options.tokens * window:4 * options.tokens * (window + 1)]
            tokens = tokens_of(options.skript, options.model, part)[:options.tokens]
            logits = {kind: logits_of(options.skript, folder, tokens) for kind, folder in folders.items()}
            for kind in surprises:
                surprises[kind].append(surprise(logits[kind], tokens))
            largest = np.abs(logits["real"]).max(-1)
            differences.append(np.abs(logits["int8"] - logits["real"]).max(-1) / largest)
            equal.append(logits["int8"].argmax(-1) == logits["real"].argmax(-1))
    perplexity = {kind: np.exp(np.concatenate(found).mean()) for kind, found in surprises.items()}
    differences, equal = np.concatenate(differences), np.concatenate(equal)
    print("%d tokens" % len(differences))
    print("perplexity      %.4f with reals, %.4f with int8: %+.2f %%" % (
        perplexity["real"], perplexity["int8"], 100 * (perplexity["int8"] / perplexity["real"] - 1)))
    print("logits          differ by %.4f of the largest one at the median, %.4f at most" % (np.median(differences), differences.max()))
    print("next token      equal at %.1f %% of positions" % (100 * equal.mean()))


main()
