#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the five best classes of a classifier's output and what the run cost: show_classes.py OUTPUT.npy STATS.json"""
import json
import sys

import numpy as np

scores = np.load(sys.argv[1]).ravel()
with open(sys.argv[2]) as file:
    stats = json.load(file)
for rank, index in enumerate(np.argsort(-scores, kind="stable")[:5], 1):
    print("  %d. class %4d   probability %.4f" % (rank, index, scores[index]))
print("  compile %.0f ms%s, run %.1f ms, arena %.1f MB, peak memory %.0f MB" % (
    stats["compile_ms"], " (from the cache)" if stats["cached"] else "", stats["run_ms"], stats["arena_bytes"] / 1e6, stats["peak_bytes"] / 1e6))
