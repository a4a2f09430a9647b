"""What compiling costs at each station: chains of operators, twice as long each time. Processor time of `skript compile` up
to the station, so that other work on the machine does not count."""
import os
import resource
import subprocess
import tempfile

import composition

LENGTHS = (1000, 2000, 4000)
STATIONS = ("skript", "linalg", "buffers", "llvm", "obj")


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
        "| chain of | station | %s | growth by doubling |" % " | ".join("%d, s" % length for length in LENGTHS),
        "|---|---|%s---|" % ("---|" * len(LENGTHS)),
    ]
    for name, chain in composition.CHAINS.items():
        for station in STATIONS:
            times = []
            for length in LENGTHS:
                with tempfile.TemporaryDirectory() as folder:
                    with open(os.path.join(folder, "main.sknd"), "w") as file:
                        file.write(composition.document(length, *chain))
                    times.append(min(seconds(skript, folder, station) for _ in range(runs)))
            growth = ", ".join("%.2f" % (after / before) for before, after in zip(times, times[1:]))
            lines.append("| %s | `%s` | %s | %s |" % (name, station, " | ".join("%.2f" % t for t in times), growth))
    return lines
