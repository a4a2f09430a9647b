# SPDX-License-Identifier: Apache-2.0
"""Measures runs of models whose code is in the cache: wall time, CPU time and peak memory.

    start.py FOLDER...     model folders, with an array NAME.npy for each input

Prints a table with a row per model and three commands, which alternate: `skript`, which repeats a recorded run; `skript-driver`,
which reads the model; and `skript-run` with the compiled file. Each number is the minimum of all rounds: wall time and CPU time
in milliseconds, memory in megabytes.
"""
import argparse
import os
import pathlib
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def process(command, environment):
    """Wall time and CPU time in ms, and the peak memory in MB."""
    begun = time.perf_counter()
    child = os.posix_spawn(command[0], [str(word) for word in command], environment)
    _, status, usage = os.wait4(child, 0)
    assert status == 0, command
    return (time.perf_counter() - begun) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss / 1e3


def row(folder, binaries, rounds):
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        inputs = [word for path in sorted(folder.glob("*.npy")) for word in ("--input", "%s=%s" % (path.stem, path))]
        out = ["--output-dir", cache + "/out"]
        process([binaries / "skript", "compile", folder, "-o", cache + "/model.skm"], environment)
        commands = [
            [binaries / "skript", "run", folder, *inputs, *out],
            [binaries / "skript-driver", "run", folder, *inputs, *out],
            [binaries / "skript-run", cache + "/model.skm", "--weights", folder, *inputs, *out],
        ]
        for command in commands:
            process(command, environment)
        measured = [[process(command, environment) for command in commands] for _ in range(rounds)]
    best = [tuple(min(column) for column in zip(*runs)) for runs in zip(*measured)]
    return "| %s | %s |" % (folder.name, " | ".join("%.1f / %.1f | %.0f" % values for values in best))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--binaries", type=pathlib.Path, default=ROOT / "target" / "release")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    print("| model | `skript run` | MB | driver | MB | `skript-run` | MB |\n|---|---|---|---|---|---|---|")
    for folder in options.folders:
        print(row(folder, options.binaries, options.rounds))


if __name__ == "__main__":
    main()
