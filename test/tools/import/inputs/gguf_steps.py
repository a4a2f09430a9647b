# SPDX-License-Identifier: Apache-2.0
"""Runs a model with a cache on parts of a text, and compares its logits with those of numpy for the whole text.

    gguf_steps.py MODEL FILE.gguf ENGINE
"""
import os
import subprocess
import sys

import numpy as np

import gguf_models

model, file, engine = sys.argv[1:]
state, logits, past = [], [], 0
for part in np.split(gguf_models.TOKENS, [3, 4, 5]):
    paths = [os.path.join(model, name) for name in ("part.npy", "past.npy", "%s.%d" % (engine, past), "out")]
    np.save(paths[0], part)
    np.save(paths[1], np.int64(past))
    subprocess.run(["skript", "run", model, "--engine", engine, "--input", "tokens=" + paths[0], "--input", "past=" + paths[1],
                    "--save-variables", paths[2], "--output-dir", paths[3], *state], check=True)
    logits.append(np.load(os.path.join(paths[3], "logits.npy")))
    state = ["--variables", paths[2]]
    past += len(part)
# One token more than the cache has rows.
np.save(paths[0], np.zeros(10, np.int64))
np.save(paths[1], np.int64(past))
subprocess.run(["skript", "run", model, "--engine", engine, "--input", "tokens=" + paths[0], "--input", "past=" + paths[1],
                "--output-dir", paths[3], *state], check=True)
assert past + 10 > 16 and np.isnan(np.load(os.path.join(paths[3], "logits.npy"))).all()
whole = os.path.join(model, "logits.npy")
np.save(whole, np.concatenate(logits))
gguf_models.check(file, whole)
