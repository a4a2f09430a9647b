#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the first inputs of a fuzz target: seeds.py TARGET FOLDER. They are the entries of test/hostile, and models of the tree."""
import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/hostile"))
import builders  # noqa: E402
import run  # noqa: E402

# The classes of entries for a target, with the byte that precedes each.
DOCUMENTS = {"syntax": b"", "packs": b"", "control": b""}
CLASSES = {"parse": DOCUMENTS, "format": DOCUMENTS, "compose": DOCUMENTS, "language_server": DOCUMENTS, "onnx": {"onnx": b""},
           "arrays": {"npy": b"\0", "dat": b"\1", "npz": b"\2", "safetensors": b"\3", "archives": b"\4"},
           "artifact": {"artifacts": b""}, "gguf": {"gguf": b"\0", "tokenizers": b"\1"}, "stablehlo": {"stablehlo": b""}}
LONGEST = 1 << 14


def inputs(target):
    for name, prefix in CLASSES[target].items():
        for entry in run.entries(ROOT / f"test/hostile/{name}.txt"):
            if entry.file:
                # The target adds the header and the checksum of a compiled model.
                data = entry.contents()
                yield data[20:-32] if target == "artifact" else prefix + data
    if CLASSES[target] is DOCUMENTS:
        for path in [*ROOT.glob("frontend/stdlib/*.sknd"), *ROOT.glob("examples/*/main.sknd")]:
            yield path.read_bytes()


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if target == "artifact":
        binaries = ROOT / "target/release"
        if not (binaries / "skript").exists():
            return
        builders.prepare(binaries)
    for data in inputs(target):
        if len(data) <= LONGEST:
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
    if target == "artifact":
        builders.discard()


if __name__ == "__main__":
    main()
