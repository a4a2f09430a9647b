"""What compiling costs at each station: chains of operators, twice as long each time. Processor time of `skript compile` up
to the station, so that other work on the machine does not count."""
import os
import resource
import subprocess
import sys
import tempfile

import composition

LENGTHS = (1000, 2000, 4000)
STATIONS = ("skript", "linalg", "buffers", "llvm", "obj")
# What doubling a chain may multiply the time by.
MOST_GROWTH = 2.3
SHORT = (400, 800, 1600)


def document_of_shared(length, shape, variable, invocation):
    """A graph of `length` invocations that share a variable, each on the result of the one before."""
    places = ["x"] + ["t%d" % number for number in range(length - 1)] + ["y"]
    lines = ["        %s = %s;" % (after, invocation % before) for before, after in zip(places, places[1:])]
    ports = "    @input { x: real[%s]; }\n    @output { y: real[%s]; }\n    @variable { w: real[%s]; }" % (shape, shape, variable)
    return "\n".join(["import nn;", "import linalg;", "graph G {", ports, "    @compose {", *lines, "    }", "}", ""])


def chains():
    """Name, lengths, text of a length."""
    for name, chain in composition.CHAINS.items():
        yield name, LENGTHS, lambda length, chain=chain: composition.document(length, *chain)
    yield "`linalg.matmul` with one variable", SHORT, lambda n: document_of_shared(n, "1,16", "16,16", "linalg.matmul(%s, w)")
    yield "`nn.conv` with one variable", SHORT, lambda n: document_of_shared(n, "1,4,8,8", "4,4,3,3", "nn.conv(%s, w)")


def seconds(skript, folder, station):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [skript, "compile", folder, "--emit=" + station, "-o", os.path.join(folder, "out." + station)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(skript, runs=3):
    """Lines of the report."""
    lines = [
        "",
        "Compilation (`skript compile --emit=STATION`, processor time from the text on): chains of invocations.",
        "",
        "| chain of | lengths | station | %s | growth by doubling |" % " | ".join("%d ×, s" % (2**n) for n in range(len(LENGTHS))),
        "|---|---|---|%s---|" % ("---|" * len(LENGTHS)),
    ]
    steep = []
    for name, lengths, text in chains():
        for station in STATIONS:
            times = []
            for length in lengths:
                with tempfile.TemporaryDirectory() as folder:
                    with open(os.path.join(folder, "main.sknd"), "w") as file:
                        file.write(text(length))
                    times.append(min(seconds(skript, folder, station) for _ in range(runs)))
            growth = [after / before for before, after in zip(times, times[1:])]
            if max(growth) > MOST_GROWTH:
                steep.append("%s at `%s`: %.2f" % (name, station, max(growth)))
            cells = [name, "%d to %d" % (lengths[0], lengths[-1]), "`%s`" % station, *("%.2f" % t for t in times)]
            lines.append("| %s | %s |" % (" | ".join(cells), ", ".join("%.2f" % g for g in growth)))
    more = "Doubling a chain took more than %s × the time for: %s." % (MOST_GROWTH, ", ".join(steep))
    return [*lines, "", more if steep else "Doubling a chain took at most %s × the time, everywhere." % MOST_GROWTH]


def main():
    """Prints the table; fails where time grows faster than it may."""
    lines = table(sys.argv[1])
    print("\n".join(lines))
    return "more than" in lines[-1]


if __name__ == "__main__":
    sys.exit(main())
