#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills the tool at random moments and checks what is left.

    kills.py [--skript FILE] [--count N] [--seed S]

Each round starts `skript run` with one common cache on a model whose variables are all incremented by a call, reads and saves the
values in one folder, and kills the process after a random time, or lets it end. Then the folder must have the values of one call:
those before the killed one, or those after it. A later run with the same cache must give the values that follow.
"""

import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VARIABLES = 12
# Elements of a variable: files large enough that kills hit them.
EXTENT = 60_000
HEADER = 128


def document(number):
    """A model that increments its variables. Models of different numbers compile to different code."""
    declared = "".join("v%d: real[%d]; " % (k, EXTENT) for k in range(VARIABLES))
    composed = "".join("n%d = next(v%d); " % (k, k) for k in range(VARIABLES))
    updated = "".join("v%d = n%d; " % (k, k) for k in range(VARIABLES))
    return """
operator next { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] + 1.0 + 0.0 * real(%d), i < n; } }
operator first { @input { x: real[n]; } @output { y: real[]; } @lower { y[] = x[0,]; } }
graph G {
    @output { y: real[]; }
    @variable { %s}
    @compose { %sy = first(n0); }
    @update { %s}
}""" % (number, declared, composed, updated)


class Tool:
    """The command line with a cache and a folder of values."""

    def __init__(self, skript, folder):
        self.skript, self.folder, self.state = skript, folder, folder / "state"
        self.environment = {"XDG_CACHE_HOME": str(folder / "cache"), "PATH": "/usr/bin:/bin"}

    def start(self, number):
        model = self.folder / ("model%d" % number)
        model.mkdir(exist_ok=True)
        (model / "main.sknd").write_text(document(number))
        weights = ["--variables", str(self.state)] if self.state.exists() else ["--weights=zero"]
        command = [self.skript, "run", str(model), *weights, "--save-variables", str(self.state), "--output-dir", str(self.folder / "out")]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def value(self):
        """The value of all elements of all variables. Reads them with the tool, too; new values count if their list is complete."""
        if not self.state.exists():
            return 0.0
        reading = [self.skript, "run", str(self.folder / "model0"), "--variables", str(self.state)]
        listed = subprocess.run(reading, env=self.environment, capture_output=True, text=True)
        pending = self.state / ".saved-variables"
        newer = {name: self.state / f".{name}.dat.new" for name in pending.read_text().split()} if pending.exists() else {}
        files = [newer[path.stem] if newer.get(path.stem, path).exists() and path.stem in newer else path for path in sorted(self.state.glob("*.dat"))
                 if not path.name.startswith(".")]
        arrays = [np.fromfile(path, np.uint8)[HEADER:].view(np.float32) for path in files]
        values = {float(value) for array in arrays for value in np.unique(array)}
        sizes = {array.size for array in arrays}
        if listed.returncode or len(values) != 1 or len(files) != VARIABLES or sizes != {EXTENT}:
            raise AssertionError("%d files with %s elements and the values %s\n%s" % (len(files), sizes, sorted(values)[:9], listed.stderr))
        return values.pop()


def finish(process):
    _, text = process.communicate(timeout=60)
    if process.returncode != 0:
        raise AssertionError("status %d: %s" % (process.returncode, text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    choices = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="kills_") as folder:
        tool = Tool(args.skript, pathlib.Path(folder))
        start = time.monotonic()
        finish(tool.start(0))
        whole, value, killed = time.monotonic() - start, 1.0, 0
        for round_ in range(args.count):
            # Half of the rounds compile a model that the cache does not have.
            process = tool.start(choices.choice([0, round_ + 1]))
            time.sleep(choices.uniform(0, whole))
            process.send_signal(signal.SIGKILL)
            _, text = process.communicate()
            killed += process.returncode == -signal.SIGKILL
            if process.returncode > 0:
                raise AssertionError("round %d: status %d: %s" % (round_, process.returncode, text))
            after = tool.value()
            if after not in (value, value + 1):
                raise AssertionError("round %d: the value %g follows %g" % (round_, after, value))
            value = after
        finish(tool.start(0))
        if tool.value() != value + 1:
            raise AssertionError("the value %g follows %g" % (tool.value(), value))
        print("kills: %d of %d processes killed, %d calls took effect, no mixed or torn value" % (killed, args.count, value))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        print(error)
        sys.exit(1)
