#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Assembles kernels of attentions for NVIDIA GPUs, counts them, and fails if one spills registers.

    spills.py --skript BINARY [--all]

The models are stacked attentions with residuals. Their queries, keys and values are one tensor or several; their rows fit into shared memory or
are longer; arrays and tensor cores have various types. Each attention is one kernel; each 16-bit input may need another one, which widens it.
`--all` checks more sizes. `test/gpu/setup.sh` installs `ptxas`.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

from kernels import PTXAS, SPILLED

ATTENTION = """
import linalg;
import math;
import nn;

operator attention {
    @input { q: real[h,n,c]; k: real[h,m,c]; v: real[h,m,d]; r: real[h,n,d]; }
    @output { y: real[h,n,d]; }
    @compose {
        s = linalg.matmul{transB=true}(q, k);
        scaled = math.mul(s, 0.25);
        a = nn.softmax{axes=[2]}(scaled);
        p = linalg.matmul(a, v);
        y = math.add(p, r);
    }
}
"""
# One tensor for queries, keys and values; or the same keys and values in all layers.
SAME = """
graph Same {
    @input { x: real[%(h)d,%(n)d,%(c)d]; }
    @output { y: real[%(h)d,%(n)d,%(c)d]; }
    @compose { a = attention(x, x, x, x); b = attention(a, a, a, a); y = attention(b, b, b, b); }
}
"""
SHARED = """
graph Shared {
    @input { x: real[%(h)d,%(n)d,%(c)d]; k: real[%(h)d,%(n)d,%(c)d]; v: real[%(h)d,%(n)d,%(c)d]; }
    @output { y: real[%(h)d,%(n)d,%(c)d]; }
    @compose { a = attention(x, k, v, x); b = attention(a, k, v, a); y = attention(b, k, v, b); }
}
"""
# Types of arrays and of tensor cores.
TYPES = [("f32", "f32"), ("f32", "tf32"), ("f32", "bf16"), ("f16", "f16"), ("bf16", "bf16"), ("f16", "f32")]
# The maximum number of bytes that an attention kernel with long rows spills: tf32 kernels need slightly more than 128 registers.
LONG_TF32 = 12
# Heads, rows, columns.
SIZES = [(2, 100, 16), (2, 1500, 16)]
MORE = [(2, 100, 64), (16, 100, 128), (2, 600, 64), (2, 1500, 64), (2, 1500, 128), (2, 4099, 32)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not glob.glob(PTXAS):
        sys.exit("there is no ptxas: run test/gpu/setup.sh")
    wrong, count = 0, 0
    for graph in (SAME, SHARED):
        for h, n, c in SIZES + (MORE if options.all else []):
            for real, precision in TYPES:
                name = "%s of %d×%d×%d, arrays %s, units %s" % (graph.split()[1], h, n, c, real, precision)
                with tempfile.TemporaryDirectory() as scratch:
                    model, code = os.path.join(scratch, "main.sknd"), os.path.join(scratch, "model.ptx")
                    with open(model, "w") as file:
                        file.write(ATTENTION + graph % {"h": h, "n": n, "c": c})
                    command = [options.skript, "compile", model, "--target=nvptx64", "--real=" + real, "--gpu-precision=" + precision, "-o", code]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
                    if done.returncode:
                        print("%s: %s" % (name, done.stderr.strip()[:300]))
                        wrong += 1
                        continue
                    command = [glob.glob(PTXAS)[0], "-v", "-arch=sm_80", code, "-o", os.path.join(scratch, "cubin")]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
                spilled = [int(bytes) for bytes in SPILLED.findall(done.stdout + done.stderr)]
                most = 3 + (real != "f32") * (3 if graph is SHARED else 1)
                count += 1
                # Two attentions may share a kernel, which is emitted once.
                allowed = LONG_TF32 if precision == "tf32" and n >= 600 else 0
                if done.returncode or any(bytes > allowed for bytes in spilled) or not 1 <= len(spilled) <= most:
                    print("%s: %d kernels, spilled bytes %s %s" % (name, len(spilled), spilled, "" if spilled else done.stderr[:200]))
                    wrong += 1
    print("kernels of %d attentions: %d wrong" % (count, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
