# SPDX-License-Identifier: Apache-2.0
"""The tables of bench/README.md, one section for each machine kind, from bench/peers/results/*.json."""
import glob
import json
import math
import os

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
BEGIN, END = "<!-- peers: made by bench/peers -->", "<!-- peers: end -->"
TITLES = {
    "main": "Networks, products and a convolution",
    "single": "Single operators",
    "untuned": "Shapes that were not used for tuning",
    "dynamic": "Dynamic and static dimensions",
    "memory": "Memory-bound operators and elementwise functions",
    "memory-l2": "The same in the L2 cache",
    "memory-odd": "The same with odd extents",
    "int8": "8-bit integers",
    "decoder": "Dynamic shapes, and steps of decoders",
}
# A round is noisy if the multiply-add rate is below this share of the maximum.
QUIET = 0.9


def ratio(row):
    """Our time divided by the shortest time of a peer; `None` if either is missing."""
    peers = [times["ms"] for name, times in row["engines"].items() if name != "ours"]
    return row["engines"]["ours"]["ms"] / min(peers) if "ours" in row["engines"] and peers else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def merged(old, new):
    """Results of a machine kind: `new` replaces rows of the same workload and number of threads."""
    rows = {(row["workload"], row["threads"]): row for row in (*old.get("rows", []), *new["rows"])}
    measured = {row["workload"] for row in new["rows"]}
    failures = [failure for failure in old.get("failures", []) if failure[0] not in measured]
    dates = sorted({*old.get("dates", []), *new["dates"]})
    dates = [dates[0], dates[-1]] if len(dates) > 1 else dates
    note = new.get("note") or old.get("note")
    return {**new, "rows": list(rows.values()), "failures": failures + new["failures"], "dates": dates, "note": note}


def _cell(row, name):
    times = row and row["engines"].get(name)
    return "%.3g / %.3g" % (times["ms"], times["median"]) if times else "–"


def _ratio_cell(row, peak):
    if not row or not ratio(row):
        return "–"
    return "**%.2f**%s" % (ratio(row), "*" if row.get("peak", peak) < QUIET * peak else "")


def group_table(results, group):
    """Lines of the table of a group, worst ratio on one thread first, and the geometric means below it."""
    rows = [row for row in results["rows"] if row["group"] == group]
    threads = sorted({row["threads"] for row in rows})
    peaks = {n: max((row.get("peak", 0) for row in results["rows"] if row["threads"] == n), default=0) for n in threads}
    by_name = {}
    for row in rows:
        by_name.setdefault(row["workload"], {})[row["threads"]] = row
    columns = [(n, name) for n in threads for name in ("ours", *results["peers"]) if any(name in row["engines"] for row in rows if row["threads"] == n)]
    heads = ["%s, %d" % column[::-1] for column in columns] + ["ours / best, %d" % n for n in threads]
    lines = ["", "#### " + TITLES[group], "", "| workload | %s |" % " | ".join(heads), "|---|%s" % ("---|" * len(heads))]
    worst_first = sorted(by_name.items(), key=lambda item: -(ratio(item[1].get(threads[0], {"engines": {}})) or math.inf))
    for name, found in worst_first:
        cells = [_cell(found.get(n), engine) for n, engine in columns] + [_ratio_cell(found.get(n), peaks[n]) for n in threads]
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    means = []
    for n in threads:
        ratios = [r for r in (ratio(row) for row in rows if row["threads"] == n) if r]
        if ratios:
            threads_text = "one thread" if n == 1 else "%d threads" % n
            means.append("%.2f on %s (*n* = %d)" % (geometric_mean(ratios), threads_text, len(ratios)))
    return [*lines, "", "Geometric mean of *ours / best*: %s." % (", ".join(means) or "–"), *pairs(by_name)]


def pairs(by_name):
    """A line for each workload that was measured with dynamic and with static dimensions."""
    lines = []
    for name, found in by_name.items():
        static = by_name.get(name.replace(", dynamic ", ", static "), {}) if ", dynamic " in name else {}
        both = [n for n in found if n in static and all("ours" in rows[n]["engines"] for rows in (found, static))]
        ratios = ["%.2f (%d)" % (found[n]["engines"]["ours"]["ms"] / static[n]["engines"]["ours"]["ms"], n) for n in both]
        if ratios:
            lines.append("- ours, %s, divided by static: %s" % (name, ", ".join(ratios)))
    return ["", *lines] if lines else []


def section(results):
    """Lines of the section of a machine kind."""
    versions = ", ".join("%s %s" % pair for pair in results["peers"].items())
    rounds = sorted({row["rounds"] for row in results["rows"]})
    counts = "%d rounds" % rounds[0] if len(rounds) == 1 else "%d to %d rounds" % (rounds[0], rounds[-1])
    lines = ["", "### %s" % results["machine"], "", "%s; %s; %s." % (versions, " to ".join(results["dates"]), counts)]
    if results.get("note"):
        lines += ["", results["note"]]
    for group in TITLES:
        if any(row["group"] == group for row in results["rows"]):
            lines += group_table(results, group)
    if results.get("failures"):
        lines += ["", "Left out:", "", *("- %s, %s: %s" % tuple(failure) for failure in results["failures"])]
    return lines


def region():
    """All sections, between the markers."""
    lines = [
        BEGIN,
        "## Other engines",
        "",
        "`make bench-peers` (`bench/peers/run.py`) writes this part: the same networks with the same weights in f32. Engines alternate, each in a",
        "separate process on as many CPUs as threads; the number of threads follows the name. A cell is the shortest time of a call / the median over",
        "rounds of the median, in ms. *ours / best* is our shortest time divided by that of the fastest other engine. * marks rows measured on a busy",
        "machine: the multiply-add rate was below %.0f %% of the maximum. The outputs of all engines agree to 10⁻³ of the largest element. In 8-bit" % (100 * QUIET),
        "integers, all engines read one ONNX model with QuantizeLinear and DequantizeLinear, and agree to a few quantization steps (0.04).",
    ]
    for path in sorted(glob.glob(os.path.join(RESULTS, "*.json"))):
        with open(path) as file:
            lines += section(json.load(file))
    return [*lines, END]


def replaced(text):
    """The page with a new region; it is appended if there was none."""
    before, mark, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] if mark else ""
    return before.rstrip("\n") + "\n\n" + "\n".join(region()) + (after if after.strip() else "\n")
