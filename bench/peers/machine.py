# SPDX-License-Identifier: Apache-2.0
"""The kind of machine that results are for: model of the CPU and its widest vectors."""
import re


def _cpu():
    with open("/proc/cpuinfo") as file:
        return dict(re.findall(r"^([\w ]+?)\s*: (.*)$", file.read().split("\n\n")[0], re.M))


def name():
    cpu = _cpu()
    flags = cpu.get("flags", "").split()
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "NEON" if "asimd" in cpu.get("Features", "").split() else "no wide vectors"
    # Virtual machines report one name for several generations.
    return "%s (family %s, model %s), %s" % (cpu.get("model name", "unknown CPU"), cpu.get("cpu family", "–"), cpu.get("model", "–"), vectors)


def slug():
    return re.sub(r"[^a-z0-9]+", "-", name().lower()).strip("-")
