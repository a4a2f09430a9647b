# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of composition: chains of operators, each twice as long as the previous one. Measures the CPU time of
`skript check`, which other work on the machine affects less than wall time."""
import os
import resource
import subprocess
import tempfile

LENGTHS = (5000, 10000, 20000)
CHAINS = {
    "`nn.relu`": ("", "nn.relu({input})"),
    "`math.add` with a variable each": ("w{number}: real[1,8];", "math.add({input}, w{number})"),
}


def document(length, variable, invocation):
    """A graph of `length` invocations, each on the result of the previous one."""
    statements = []
    for number in range(length):
        source = "t%d" % (number - 1) if number else "x"
        target = "t%d" % number if number < length - 1 else "y"
        statements.append("        %s = %s;" % (target, invocation.format(input=source, number=number)))
    variables = ["        " + variable.format(number=number) for number in range(length)] if variable else []
    blocks = ["    @input { x: real[4,8]; }", "    @output { y: real[4,8]; }"]
    if variables:
        blocks += ["    @variable {", *variables, "    }"]
    return "\n".join(["import nn;", "import math;", "graph G {", *blocks, "    @compose {", *statements, "    }", "}", ""])


def seconds(skript, length, chain):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "main.sknd"), "w") as file:
            file.write(document(length, *chain))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([skript, "check", folder], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(skript):
    """The lines of the report."""
    lines = [
        "",
        "Composition (`skript check`, processor time): chains of invocations.",
        "",
        "| chain of | %s | growth by doubling |" % " | ".join("%d, s" % length for length in LENGTHS),
        "|---|%s---|" % ("---|" * len(LENGTHS)),
    ]
    for name, chain in CHAINS.items():
        times = [min(seconds(skript, length, chain) for _ in range(3)) for length in LENGTHS]
        growth = ", ".join("%.2f" % (after / before) for before, after in zip(times, times[1:]))
        lines.append("| %s | %s | %s |" % (name, " | ".join("%.2f" % time for time in times), growth))
    return lines
