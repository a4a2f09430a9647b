# SPDX-License-Identifier: Apache-2.0
"""Measures one workload: checks that the engines agree, then runs them alternately, each in a separate process."""
import collections
import statistics
import tempfile

import agreement
import engines
import model_files

# Our first round has FIRST_CALLS calls; the number of calls of a later round is computed from the round before. Peers compute theirs.
FIRST_CALLS, LEAST_CALLS, MOST_CALLS = 10, 5, 2000

Comparison = collections.namedtuple("Comparison", "rows failures")


def compare(workload, peers, threads, rounds, seconds, skript, scratch):
    """Rows by number of threads, and failures: (engine, reason)."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        net = workload.build()
        model_files.write(net, folder)
        names, failures = agreeing([*engines.available(peers, folder), engines.OURS], skript, folder, net.tolerance)
        rows = []
        for count in threads:
            able = [name for name in names if count <= engines.MOST_THREADS.get(name, count)]
            samples, failed = alternate(able, skript, folder, count, rounds, seconds)
            failures += failed
            rows.append({"workload": workload.name, "group": workload.group, "threads": count, "rounds": rounds, **summary(samples)})
        return Comparison(rows, failures)


def agreeing(names, skript, folder, tolerance):
    """The engines whose results agree with those of the first successful engine, and the reasons why other engines are excluded."""
    kept, failures, expected = [], [], None
    for name in names:
        try:
            results = engines.outputs(name, skript, folder)
        except engines.Failed as failure:
            failures.append((name, str(failure)))
            continue
        expected = results if expected is None else expected
        difference = agreement.difference(results, expected)
        if difference <= tolerance:
            kept.append(name)
        else:
            failures.append((name, "results differ by %.1e of the largest element" % difference))
    return kept, failures


def alternate(names, skript, folder, threads, rounds, seconds):
    """The measurements of each engine in each round. An engine that fails once is not run again."""
    samples, failures = {name: [] for name in names}, []
    for round in range(rounds):
        for name in [n for n in names if len(samples[n]) == round]:
            try:
                if name == engines.OURS:
                    sample = engines.measure_ours(skript, folder, threads, round, calls(samples[name], seconds))
                else:
                    sample = engines.measure_peer(name, folder, threads, round, seconds)
                samples[name].append(sample)
            except engines.Failed as failure:
                failures.append((name, str(failure)))
    return samples, failures


def calls(before, seconds):
    """The number of calls that take about `seconds`, estimated from the previous round."""
    if not before:
        return FIRST_CALLS
    return max(LEAST_CALLS, min(MOST_CALLS, int(1e3 * seconds / before[-1]["call_ms"])))


def summary(samples):
    """Minimum and median times in ms. For our rounds, also the maximum multiply-add rates of the machine and of our code."""
    found = {
        name: {"ms": min(s["call_ms"] for s in rounds), "median": statistics.median(s["median_ms"] for s in rounds)}
        for name, rounds in samples.items()
        if rounds
    }
    ours = samples.get(engines.OURS)
    return {"engines": found, **({"peak": max(s["peak_gflops"] for s in ours), "gflops": max(s["gflops"] for s in ours)} if ours else {})}
