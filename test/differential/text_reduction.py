# SPDX-License-Identifier: Apache-2.0
"""Shrinks the text of a failing model."""

import re
import time

STATEMENT = re.compile(r"^\s*(\w+) = [^;]*;$")
# The shortest texts that may replace a part of a formula.
ATOMS = ["0", "1", "0.5", "1.0", "true", "false"]


def reduced(text, fails, seconds=120):
    """The smallest text that is found in this time and for which `fails([text])` is true; `fails` tests many texts at once."""
    end = time.monotonic() + seconds
    while True:
        options = sorted({option for option in candidates(text) if len(option) < len(text)}, key=len)
        for at in range(0, len(options), 16):
            if time.monotonic() > end:
                return text
            found = fails(options[at : at + 16])
            if any(found):
                text = options[at + found.index(True)]
                break
        else:
            return text


def candidates(text):
    yield from without_definitions(text)
    yield from without_lines(text)
    yield from with_other_names(text)
    yield from without_outputs(text)
    yield from with_smaller_formulas(text)


def without_definitions(text):
    """Without operators that no statement calls, blocks of variables and of updates."""
    unused = [d for d in re.split(r"(?m)^(?=operator |graph )", text) if d.startswith("operator ") and text.count(d.split()[1] + "(") == 0]
    shorter = text
    for definition in unused:
        shorter = shorter.replace(definition, "")
    yield shorter
    yield re.sub(r"(?ms)^    @update \{.*?^    \}\n", "", text)
    yield re.sub(r"(?m)^    @variable .*\n", "", text)
    yield re.sub(r"(?m)^import .*\n", lambda found: found.group() if found.group().split()[1][:-1] + "." in text else "", text)


def without_lines(text):
    lines = text.split("\n")
    for count in (8, 4, 2, 1):
        for at in range(len(lines) - count + 1):
            yield "\n".join(lines[:at] + lines[at + count :])


def with_other_names(text):
    """Without a statement, whose result is replaced by another tensor."""
    lines = text.split("\n")
    names = re.findall(r"\b((?:in|w|t|p)\d+)\b(?=:| =)", text)
    for at, line in enumerate(lines):
        found = STATEMENT.match(line)
        if found and not line.strip().startswith("o"):
            rest = "\n".join(lines[:at] + lines[at + 1 :])
            for name in dict.fromkeys(names):
                if name != found.group(1):
                    yield re.sub(r"\b%s\b" % found.group(1), name, rest)


def without_outputs(text):
    """Without an output of the graph or a parameter of an operator."""
    for name in dict.fromkeys(re.findall(r"\b([ory]\d+|in\d+|x\d+|w\d+|pack|steps): ", text)):
        rest = re.sub(r"\b%s: [^;]*; ?" % name, "", text, count=1)
        yield re.sub(r"(?m)^\s*%s(\[.*)? \S+ [^;]*;\n" % name, "", rest)


def with_smaller_formulas(text):
    """Without one part in parentheses or brackets, or without a clause."""
    for found in re.finditer(r"[(`{]", text):
        end = closing(text, found.start())
        if end is None:
            continue
        start = found.start()
        if found.group() == "{":
            statement = re.match(r"\{ .*yield ([^;]*); \}", text[start : end + 1])
            if statement:
                yield text[:start] + "{ yield %s; }" % statement.group(1) + text[end + 1 :]
            continue
        inner = text[start + 1 : end]
        for part in split(inner) + ATOMS:
            yield text[:start] + part + text[end + 1 :]
    for found in re.finditer(r", \w+ < \w+| \| [^;|]+(?=;)|\|[^|;]*\||\w+\[[^\]\[]*\]", text):
        yield text[: found.start()] + text[found.end() :]
        for atom in ATOMS:
            yield text[: found.start()] + atom + text[found.end() :]


def closing(text, start):
    """The position of the bracket that closes the one at `start`, or the end of a call of a function in back-ticks."""
    if text[start] == "`":
        opening = text.find("(", start)
        return closing(text, opening) if opening > 0 else None
    pairs, depth = {"(": ")", "{": "}"}, 0
    for at in range(start, len(text)):
        depth += (text[at] == text[start]) - (text[at] == pairs[text[start]])
        if depth == 0:
            return at
    return None


def split(inner):
    """The operands of the operators at the outermost level of a formula."""
    parts, depth, last = [], 0, 0
    for at, character in enumerate(inner):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character == " ":
            parts.append(inner[last:at])
            last = at + 1
    parts.append(inner[last:])
    return [part for part in parts if re.search(r"\w", part)]
