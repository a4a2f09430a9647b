# SPDX-License-Identifier: Apache-2.0
"""Batch inference over a data set with Spark's mapInPandas: each Python worker loads the compiled model once.

    run.py model.skm [--rows N] [--workers 1 2]

Prints rows per second by the number of workers, and what each worker has of the model's file in memory of its own.
"""
import argparse
import os
import pathlib
import sys

import numpy
import skript_runtime
from pyspark.sql import SparkSession

COLUMNS = 1024
BATCH = 128


def classifier(path):
    """The function for mapInPandas; it is sent to the workers with all that it names."""

    def rows(ids):
        return ((ids[:, None] * 7919 + numpy.arange(COLUMNS)) % 251 / 251).astype(numpy.float32)

    def private():
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

    def classify(frames):
        import time

        import skript_runtime

        # Spark keeps its Python workers, and their modules, from task to task.
        models = vars(skript_runtime).setdefault("_models", {})
        if path not in models:
            models[path] = skript_runtime.load(path, threads=1)
        for frame in frames:
            begin = time.time()
            scores = models[path](rows(frame["id"].to_numpy()))
            end = time.time()
            own, total = private()
            yield frame.assign(label=scores.argmax(1), worker=os.getpid(), begin=begin, end=end, private=own, mapped=total)

    return classify


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    schema = "id long, label long, worker long, begin double, end double, private long, mapped long"
    model = skript_runtime.load(options.model, threads=1)
    ids = numpy.arange(options.rows)
    rows = lambda part: ((part[:, None] * 7919 + numpy.arange(COLUMNS)) % 251 / 251).astype(numpy.float32)  # noqa: E731
    expected = numpy.concatenate([model(rows(part)).argmax(1) for part in numpy.array_split(ids, options.rows // BATCH + 1)])
    for workers in options.workers:
        session = (
            SparkSession.builder.master(f"local[{workers}]").appName("skript").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH)).getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        data = session.range(0, options.rows, 1, 4 * workers)
        found = data.mapInPandas(classifier(options.model), schema).toPandas().sort_values("id")
        session.stop()
        assert numpy.array_equal(found["id"], ids), "rows are missing"
        assert numpy.array_equal(found["label"], expected), "other classes than without Spark"
        seconds = found["end"].max() - found["begin"].min()
        own = found.groupby("worker")["private"].max()
        print(f"{workers} workers: {options.rows / seconds:.0f} rows/s in {len(own)} processes; of {found['mapped'].max() / 1e6:.1f} MB "
              f"of the model, {own.max() / 1e6:.1f} MB are a worker's own", flush=True)


if __name__ == "__main__":
    main()
