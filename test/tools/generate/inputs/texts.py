# SPDX-License-Identifier: Apache-2.0
"""Compares generated texts and conversations with numpy, and prompts with jinja2.

    texts.py FOLDER
"""
import json
import os
import re
import subprocess
import sys

import jinja2.sandbox
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../import/inputs"))
import gguf_models
import vocabularies

CHAT_ML = ("{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
           "{{ '<|im_start|>system\nBe brief.<|im_end|>\n' }}{% endif %}"
           "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
INSTRUCTIONS = """{%- if messages[0].role == 'system' -%}
    {%- set system = messages[0]['content'] | trim + '\n\n' -%}
    {%- set messages = messages[1:] -%}
{%- else -%}
    {%- set system = '' -%}
{%- endif -%}
{{ bos_token }}
{%- for message in messages %}
    {%- if (message.role == 'user') != (loop.index0 is even) %}
        {{ raise_exception('roles must alternate') }}
    {%- endif %}
    {% if message.role == 'user' %}
[INST] {{ (system if loop.first else '') ~ message.content.strip() }} [/INST]
    {% else %}
 {{ message['content'] | trim | replace('a', 'A') }}{{ eos_token }}
    {% endif %}
{% endfor %}
{% set ns = namespace(count=0) %}{% for m in messages %}{% set ns.count = ns.count + 1 %}{% endfor -%}
<{{ ns.count }}{{ tools is defined }}{{ messages | length }}{{ 'x' if not messages else messages[-1]['role'][:2] }}>"""

# The smallest difference of the two largest logits at which f32 and f64 surely select the same token.
MARGIN = 1e-3


def greedy(model, tokens, count, end):
    """The most probable tokens after a prompt, and whether the last step was decided by rounding."""
    tokens = list(tokens)
    start = len(tokens)
    while len(tokens) - start < count:
        logits = model.logits(np.array(tokens))[-1]
        second, first = np.sort(logits)[-2:]
        assert first - second > MARGIN, "the test needs another model: two logits are nearly equal"
        if logits.argmax() == end:
            break
        tokens.append(int(logits.argmax()))
    return tokens[start:]


def skript(verb, path, *arguments, stdin=""):
    command = ["skript", verb, path, "--temperature=0", "--verbose", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, input=stdin.encode())
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stderr.decode().splitlines()
    prompts = [json.loads(line.removeprefix("prompt: ")) for line in lines if line.startswith("prompt: ")]
    tokens = [json.loads(line.removeprefix("tokens: ")) for line in lines if line.startswith("tokens: ")]
    return done.stdout.decode(), prompts, tokens


PROMPTS = ["The", "The quick brown fox jumps over 12 lazy dogs", "Once upon a time. " * 14]


def greedy_texts(path, vocabulary, prompts, count):
    """Compares the most probable tokens with numpy; returns the last text."""
    model = gguf_models.Model(path)
    for number, prompt in enumerate(prompts):
        threads = str(min(number + 1, 2))
        text, _, [tokens] = skript("generate", path, "--prompt=" + prompt, "-n", str(count), "--threads", threads)
        expected = vocabulary.decode(greedy(model, tokens, count, vocabulary.end)).decode("utf-8", "replace")
        assert text == expected + "\n", (prompt, text, expected)
        print("%d tokens of a prompt, then %r" % (len(tokens), text))
    return expected


def texts(path, vocabulary):
    expected, prompt = greedy_texts(path, vocabulary, PROMPTS, 24), PROMPTS[-1]
    # A text ends before a stop string.
    stop = re.search("[a-z]{2,3}", expected)[0]
    text, _, _ = skript("generate", path, "--prompt=" + prompt, "-n", "24", "--stop", stop)
    assert text == expected[:expected.index(stop)] + "\n"
    # Equal seeds result in equal texts, for any number of threads.
    options = ["--prompt=a", "-n", "30", "--temperature=2", "--top-k=0", "--top-p=1", "--min-p=0"]
    first, second, other = (skript("generate", path, *options, *more)[0]
                            for more in (["--seed=3", "--threads=1"], ["--seed=3", "--threads=2"], ["--seed=4"]))
    assert first == second != other


def conversation(path, vocabulary, template, system):
    sandbox = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    marks = {"bos_token": vocabularies.MARKS[-2], "eos_token": vocabularies.MARKS[-1]}
    messages = [{"role": "system", "content": system}] if system else []
    questions = ["Who are you?", "  And again: 12 % of {{ this }}? "]
    out, prompts, tokens = skript("chat", path, "-n", "6", *(["--system", system] if system else []),
                                  stdin="\n".join(questions))
    model = gguf_models.Model(path)
    for question, prompt, numbers in zip(questions, prompts, tokens, strict=True):
        messages.append({"role": "user", "content": question})
        expected = sandbox.from_string(template).render(messages=messages, add_generation_prompt=True, **marks)
        assert prompt == expected, "%r instead of %r" % (prompt, expected)
        answer = vocabulary.decode(greedy(model, numbers, 6, vocabulary.end)).decode("utf-8", "replace")
        assert out.startswith(answer + "\n"), (out, answer)
        out = out[len(answer) + 1:]
        messages.append({"role": "assistant", "content": answer})
    assert out == ""
    print("a conversation of %d messages, the last prompt of %d tokens" % (len(messages), len(tokens[-1])))


def forgetful(path, template):
    """A conversation that exceeds the context: the oldest turns are left out, and a message that does not fit alone is refused."""
    sandbox = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    marks = {"bos_token": vocabularies.MARKS[-2], "eos_token": vocabularies.MARKS[-1]}
    questions = ["Question %d?" % number for number in range(5)]
    command = ["skript", "chat", path, "--temperature=0", "--verbose", "--quiet", "--context=80", "--system=Be brief.", "-n", "6"]
    stdin = "\n".join([*questions[:3], "long " * 500, *questions[3:]])
    done = subprocess.run(command, capture_output=True, input=stdin.encode())
    stderr = done.stderr.decode()
    assert done.returncode == 0, stderr
    assert stderr.count("tokens, but the context has 80") == 1 and "messages are left out" in stderr, stderr
    prompts = [json.loads(line.removeprefix("prompt: ")) for line in stderr.splitlines() if line.startswith("prompt: ")]
    tokens = [json.loads(line.removeprefix("tokens: ")) for line in stderr.splitlines() if line.startswith("tokens: ")]
    assert len(prompts) == len(questions) and all(len(numbers) <= 80 - 6 for numbers in tokens), stderr
    first = sandbox.from_string(template).render(messages=[{"role": "system", "content": "Be brief."}], **marks)
    for number, prompt in enumerate(prompts):
        kept = [other for other in range(len(questions)) if questions[other] in prompt]
        assert prompt.startswith(first) and kept == list(range(kept[0], number + 1)), (number, prompt)
    assert kept[0] > 0, prompts
    print("a conversation that has left out %d turns at its end" % kept[0])


def main(folder):
    for name in ("q4_0", "qwen3"):
        vocabulary = vocabularies.Bytes("smollm", CHAT_ML)
        path = os.path.join(folder, name + ".gguf")
        gguf_models.write(path, name, vocabulary.count, vocabulary.describe, context=256)
        texts(path, vocabulary)
        conversation(path, vocabulary, CHAT_ML, None)
        forgetful(path, CHAT_ML)
    vocabulary = vocabularies.Bytes("smollm", None)
    for name in ("phi3", "mixtral", "qwen2moe"):
        path = os.path.join(folder, name + ".gguf")
        gguf_models.write(path, name, vocabulary.count, vocabulary.describe, context=256)
        greedy_texts(path, vocabulary, PROMPTS[:2], 10)
    vocabulary = vocabularies.Bytes("gpt-2", INSTRUCTIONS)
    path = os.path.join(folder, "instructions.gguf")
    gguf_models.write(path, "f32", vocabulary.count, vocabulary.describe, context=256)
    conversation(path, vocabulary, INSTRUCTIONS, " Answer in one word. ")
    # The text has no end within the time of the test.
    path = os.path.join(folder, "endless.gguf")
    gguf_models.write(path, "f32", vocabulary.count, vocabulary.describe, context=100000)


main(sys.argv[1])
