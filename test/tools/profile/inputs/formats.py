# SPDX-License-Identifier: Apache-2.0
"""Checks a file that `--profile` wrote, except its times: formats.py list|trace|flame|table|bench FILE."""

import json
import re
import sys
from xml.dom import minidom

kind, path = sys.argv[1:]
CONV = 5 * 4 * 6 * 6 * (2 * 27 + 1)
MATMUL = 2 * 5 * 144 * 10


def check(condition, shown):
    assert condition, shown


with open(path, encoding="utf-8") as file:
    text = file.read()
if kind == "list":
    steps = json.loads(text)
    fields = {"operator", "location", "kernel", "layout", "ns", "flops", "bytes"}
    check(all(set(step) == fields for step in steps), steps)
    by_name = {step["operator"]: step for step in steps}
    check(by_name["nn.conv + nn.relu"]["flops"] == CONV, by_name)
    check(by_name["linalg.matmul"]["flops"] == MATMUL, by_name)
    names = [step["operator"] for step in steps]
    check(names.index("nn.conv + nn.relu") < names.index("linalg.matmul"), names)
    check(steps[0]["location"].rsplit("/", 1)[-1].startswith("main.sknd:16:"), steps[0])
elif kind == "trace":
    trace = json.loads(text)
    events = trace["traceEvents"]
    check(all(event["ph"] == "X" and event["dur"] >= 0 for event in events), events)
    ends = [event["ts"] + event["dur"] for event in events]
    begins = [event["ts"] for event in events[1:]]
    check(all(end <= begin + 1e-3 for end, begin in zip(ends, begins)), events)
    check(trace["otherData"]["model"] == "main.Net", trace["otherData"])
elif kind == "flame":
    document = minidom.parseString(text)
    frames = document.getElementsByTagName("title")
    names = [frame.firstChild.data for frame in frames]
    check(names[0].startswith("main.Net: ") and names[0].endswith("100.0 %"), names)
    check(any(name.startswith("nn.softmax ") for name in names), names)
    widths = [float(rect.getAttribute("width")) for rect in document.getElementsByTagName("rect")]
    check(max(widths) == widths[0] == 1200, widths)
elif kind == "table":
    shares = [float(share) for share in re.findall(r" ([0-9.]+) %  ", text.split("location")[1])]
    check(len(shares) > 4 and 98 < sum(shares) < 102, shares)
elif kind == "bench":
    figures = json.loads(text)
    check(figures["threads"] == 2, figures)
    for name in ("gflops", "gbytes_per_s", "peak_gbytes_per_s", "bandwidth_share"):
        check(figures[name] > 0, figures)
    check(figures["bytes"] == 4 * (5 * 3 * 36 + 4 * 27 + 4 + 1440 + 50), figures)
    if figures["peak_gflops"] is not None:
        check(abs(figures["peak_share"] - figures["gflops"] / figures["peak_gflops"]) < 1e-9, figures)
