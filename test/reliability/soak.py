#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls models from many threads for a long time, and loads and unloads them.

    soak.py [--minutes M] [--models N] [--threads N] [--seed S]

The models are random networks (test/differential). Each thread calls random models of a common list, also through copies, and
replaces some of them by models that it loads again. An output with other bits than those of the first call is a failure, and so is a
resident set that grows between the end of the first quarter and the end by more than 32 MiB and 5 %.
"""

import argparse
import gc
import pathlib
import random
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "test/differential"), str(ROOT / "test/python")]

from network_generation import generate  # noqa: E402
from package import skript  # noqa: E402

MIB = 1 << 20


def resident():
    """The resident set of this process, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


class Network:
    """A model, its inputs, and the bits of its outputs."""

    def __init__(self, folder, seed):
        network = generate(seed, 10, 60)
        self.seed, self.folder = seed, folder / str(seed)
        self.folder.mkdir()
        text = network.write()
        self.has_state = "@update" in text or "momentum=" in text
        (self.folder / "main.sknd").write_text(text)
        self.inputs = dict(network.values(seed))
        self.lock = threading.Lock()
        self.model = self.load()
        self.bits = self.outputs(self.model)

    def load(self):
        return skript.load(self.folder, weights="random")

    def outputs(self, model):
        results = model(**self.inputs)
        results = results if isinstance(results, tuple) else (results,)
        return [array.tobytes() for result in results for array in (result if isinstance(result, list) else [result])]

    def step(self, drawn):
        """One call, of the common model, a copy, or a model that replaces it; whether the bits are right."""
        with self.lock:
            model = self.model
        if drawn < 0.02:
            model = self.load()
            with self.lock:
                self.model = model
        elif drawn < 0.1:
            model = model.compile()
        return self.outputs(model) == self.bits


def networks(folder, count, seed):
    """Networks without state, whose calls have the same results."""
    found = []
    while len(found) < count:
        network = Network(folder, seed)
        seed += 1
        if not network.has_state:
            found.append(network)
    return found


class Soak:
    def __init__(self, models, seconds):
        self.models, self.end = models, time.monotonic() + seconds
        self.calls, self.wrong, self.lock = 0, [], threading.Lock()

    def work(self, seed):
        choices = random.Random(seed)
        while time.monotonic() < self.end and not self.wrong:
            network = choices.choice(self.models)
            try:
                problem = None if network.step(choices.random()) else "other bits"
            except Exception as error:  # noqa: BLE001
                problem = repr(error)
            with self.lock:
                self.calls += 1
                if problem:
                    self.wrong.append("network %d: %s" % (network.seed, problem))

    def run(self, threads, seed, seconds):
        """The resident sets after a quarter of the time and at the end."""
        workers = [threading.Thread(target=self.work, args=(seed + k,)) for k in range(threads)]
        for worker in workers:
            worker.start()
        time.sleep(seconds / 4)
        gc.collect()
        before = resident()
        for worker in workers:
            worker.join()
        gc.collect()
        return before, resident()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak_") as folder:
        models = networks(pathlib.Path(folder), args.models, args.seed)
        soak = Soak(models, args.minutes * 60)
        before, after = soak.run(args.threads, args.seed, args.minutes * 60)
    grown = after - before > 32 * MIB + before // 20
    print("\n".join(soak.wrong))
    print("soak: %d calls of %d models from %d threads in %g minutes, %d wrong; %d MiB resident after a quarter, %d at the end%s"
          % (soak.calls, len(models), args.threads, args.minutes, len(soak.wrong), before // MIB, after // MIB, ": it grew" if grown else ""))
    return 1 if soak.wrong or grown or not soak.calls else 0


if __name__ == "__main__":
    sys.exit(main())
