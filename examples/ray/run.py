# SPDX-License-Identifier: Apache-2.0
"""Batch inference over a data set with Ray Data: each worker loads the compiled model.

    run.py model.skm [--rows N] [--workers 1 2]

Prints rows per second by the number of workers, and what each worker has of the model's file in memory of its own.
"""
import argparse
import os
import pathlib
import time

import numpy
import ray
import skript_runtime

COLUMNS = 1024
BATCH = 128


def rows(ids):
    """The rows of the data set with these numbers: float32 [len(ids), 1024]."""
    return ((ids[:, None] * 7919 + numpy.arange(COLUMNS)) % 251 / 251).astype(numpy.float32)


def private(path):
    """Bytes of a mapped file that this process has for itself, and all that it has of it."""
    own = total = 0
    inside = False
    for line in pathlib.Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            inside = line.endswith(path)
        elif inside and words[0] == "Private_Dirty:":
            own += int(words[1]) * 1024
        elif inside and words[0] == "Rss:":
            total += int(words[1]) * 1024
    return own, total


class Classifier:
    """A worker. The file is mapped: workers on one machine share its pages, with the weights as kernels read them."""

    def __init__(self, path):
        self.path = path
        self.model = skript_runtime.load(path, threads=1)

    def __call__(self, batch):
        begin = time.time()
        scores = self.model(rows(batch["id"]))
        end = time.time()
        own, total = private(self.path)
        count = len(scores)
        fill = lambda value: numpy.full(count, value)  # noqa: E731
        return {
            "id": batch["id"], "class": scores.argmax(1), "worker": fill(os.getpid()), "begin": fill(begin), "end": fill(end),
            "private": fill(own), "mapped": fill(total),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    # `skript_runtime` may be in a folder that only this process knows.
    environment = {"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}}
    ray.init(num_cpus=max(options.workers) + 1, include_dashboard=False, log_to_driver=False, logging_level="error", runtime_env=environment)
    ray.data.DataContext.get_current().enable_progress_bars = False
    expected = None
    for workers in options.workers:
        # Small blocks, so that every worker has some.
        data = ray.data.range(options.rows, override_num_blocks=max(options.rows // (4 * BATCH), workers))
        classified = data.map_batches(
            Classifier, fn_constructor_kwargs={"path": options.model}, batch_size=BATCH,
            compute=ray.data.ActorPoolStrategy(size=workers), num_cpus=1,
        )
        found = classified.to_pandas().sort_values("id")
        if expected is None:
            model = skript_runtime.load(options.model, threads=1)
            ids = numpy.arange(options.rows)
            parts = [model(rows(part)).argmax(1) for part in numpy.array_split(ids, options.rows // BATCH + 1)]
            expected = numpy.concatenate(parts)
        assert numpy.array_equal(found["id"], numpy.arange(options.rows)), "rows are missing"
        assert numpy.array_equal(found["class"], expected), "other classes than without Ray"
        seconds = found["end"].max() - found["begin"].min()
        own = found.groupby("worker")["private"].max()
        print(f"{workers} workers: {options.rows / seconds:.0f} rows/s in {len(own)} processes; of {found['mapped'].max() / 1e6:.1f} MB "
              f"of the model, {own.max() / 1e6:.1f} MB are a worker's own", flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main()
