# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of compilation up to each stage: chains of operators, each twice as long as the previous one. Measures the
CPU time of `skript compile`, which other work on the machine affects less than wall time."""
import os
import re
import resource
import subprocess
import sys
import tempfile

import composition

LENGTHS = (1000, 2000, 4000)
STAGES = ("skript", "linalg", "buffers", "llvm", "obj")
# Maximum factor of the compile time when a chain doubles.
MAX_GROWTH = 2.3
SHORT = (400, 800, 1600)
# Repeated runs end after this number of seconds.
ENOUGH = 10


def document(shape, variables, steps, length):
    """A graph of `length` steps, each on the result of the previous one. `variables` and `steps` are templates: `variables` is
    repeated for each step if it contains `{number}`; in `steps`, `{before}` and `{after}` are tensors of the same shape."""
    names = ["x"] + ["t%d" % number for number in range(length - 1)] + ["y"]
    pairs = enumerate(zip(names, names[1:]))
    lines = ["        " + steps.format(number=number, before=before, after=after) for number, (before, after) in pairs]
    copies = range(length if "{number}" in variables else 1)
    # The input states the upper bounds of dynamic dimensions.
    result = re.sub(r"\|\d+", "", shape)
    ports = ["    @input { x: real[%s]; }" % shape, "    @output { y: real[%s]; }" % result]
    if variables:
        ports += ["    @variable {", *("        " + variables.format(number=number) for number in copies), "    }"]
    imports = ["import %s;" % name for name in ("nn", "linalg", "math")]
    return "\n".join([*imports, "graph G {", *ports, "    @compose {", *lines, "    }", "}", ""])


IMAGE = "1,4,8,8"
FILTER = "w: real[4,4,3,3];"
# Name, shape, variables, steps.
MODELS = [
    ("`linalg.matmul` with one variable", "1,16", "w: real[16,16];", "{after} = linalg.matmul({before}, w);"),
    ("`linalg.matmul` with a variable each", "1,16", "w{number}: real[16,16];", "{after} = linalg.matmul({before}, w{number});"),
    ("`nn.conv` with one variable", IMAGE, FILTER, "{after} = nn.conv({before}, w);"),
    ("`nn.max_pool`", IMAGE, "", "{after} = nn.max_pool{{size=[3, 3], padding=[1, 1, 1, 1]}}({before});"),
    ("`nn.batch_norm`", IMAGE, "m: real[4]; v: real[4]; b: real[4]; s: real[4];", "{after} = nn.batch_norm({before}, m, v, b, s);"),
    ("a loop of `math.add`", "8", "k: int[];", "{after} = with s = {before} do..(q -> k) math.add(s, x);"),
    ("a branch, dynamic dimensions", "s|64", "c: bool[];", "{after} = if c then math.add({before}, x) else math.sub({before}, x);"),
    ("`nn.max_pool`, dynamic dimensions", "1,4,h|64,w|64", "", "{after} = nn.max_pool{{size=[3, 3], padding=[1, 1, 1, 1]}}({before});"),
    (
        "`nn.conv`, `nn.relu`, `math.add` to the input",
        IMAGE,
        FILTER,
        "c{number} = nn.conv({before}, w); r{number} = nn.relu(c{number}); {after} = math.add({before}, r{number});",
    ),
]


def chains():
    """For each chain: its name, its lengths, and the function that returns the document of a length."""
    for name, chain in composition.CHAINS.items():
        yield name, LENGTHS, lambda length, chain=chain: composition.document(length, *chain)
    for name, *model in MODELS:
        yield name, SHORT, lambda length, model=model: document(*model, length)


def seconds(skript, folder, stage):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [skript, "compile", folder, "--emit=" + stage, "-o", os.path.join(folder, "out." + stage)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def minimum_times(skript, text, lengths, stage):
    """The minimum time of three runs for each length; of fewer runs if these take `ENOUGH` seconds together."""
    times = []
    for length in lengths:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "main.sknd"), "w") as file:
                file.write(text(length))
            runs = []
            while len(runs) < 3 and sum(runs) < ENOUGH:
                runs.append(seconds(skript, folder, stage))
            times.append(min(runs))
    return times


def growth(times):
    return [after / before for before, after in zip(times, times[1:])]


def table(skript, only=""):
    """The lines of the report, for chains whose names contain `only`. Chains that grow faster than allowed are measured two
    more times, because other work on the machine evicts caches."""
    lines = [
        "",
        "Compilation (`skript compile --emit=STAGE`, processor time, from the text): chains of invocations.",
        "",
        "| chain of | lengths | stage | %s | growth by doubling |" % " | ".join("%d ×, s" % (2**n) for n in range(len(LENGTHS))),
        "|---|---|---|%s---|" % ("---|" * len(LENGTHS)),
    ]
    steep = []
    for name, lengths, text in chains():
        if only not in name:
            continue
        for stage in STAGES:
            times = minimum_times(skript, text, lengths, stage)
            for _ in range(2):
                if max(growth(times)) > MAX_GROWTH:
                    times = [min(pair) for pair in zip(times, minimum_times(skript, text, lengths, stage))]
            grown = growth(times)
            if max(grown) > MAX_GROWTH:
                steep.append("%s at `%s`: %.2f" % (name, stage, max(grown)))
            cells = [name, "%d to %d" % (lengths[0], lengths[-1]), "`%s`" % stage, *("%.2f" % t for t in times)]
            lines.append("| %s | %s |" % (" | ".join(cells), ", ".join("%.2f" % g for g in grown)))
    more = "Doubling a chain took more than %s × the time for: %s." % (MAX_GROWTH, ", ".join(steep))
    return [*lines, "", more if steep else "Doubling a chain took at most %s × the time at every stage." % MAX_GROWTH]


def main():
    """`compilation.py SKRIPT [CHAIN]`: prints the table; fails if a time grows faster than allowed."""
    lines = table(*sys.argv[1:2], only=sys.argv[2] if len(sys.argv) > 2 else "")
    print("\n".join(lines))
    return "more than" in lines[-1]


if __name__ == "__main__":
    sys.exit(main())
