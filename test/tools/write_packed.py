#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a model folder and its weights in every supported format, and in invalid ones: write_packed.py MODEL.sknd OUT."""
import gzip
import io
import json
import os
import struct
import sys
import tarfile

import numpy as np

model, out = sys.argv[1:]
os.makedirs(out, exist_ok=True)
with open(model, "rb") as file:
    text = file.read()
values = np.arange(6, dtype="<f4").reshape(2, 3)
dat = (b"\x4e\xef\x01\x00" + struct.pack("<II8III", values.nbytes, 2, 2, 3, *[0] * 6, 32, 0)).ljust(128, b"\0") + values.tobytes()


def tgz(name, members, **options):
    with tarfile.open(os.path.join(out, name), "w:gz", **options) as archive:
        for member, data in members:
            info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data))


good = [("main.sknd", text), ("main.G.w.dat", dat)]
for style in ("USTAR", "GNU", "PAX"):
    tgz(style.lower() + ".tgz", [("./" + "d" * 99 + "/" + n, d) for n, d in good], format=getattr(tarfile, style + "_FORMAT"))
tgz("plain.tar.gz", good)
tgz("out.tgz", good + [("../evil.sknd", b"")])
tgz("absolute.tgz", good + [("/tmp/evil.sknd", b"")])
link = tarfile.TarInfo("main.G.w.dat")
link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
tgz("link.tgz", [good[0], (link, b"")])
tgz("bomb.tgz", good + [("zeros.dat", bytes(1 << 26))])
tgz("wrong.tgz", [good[0], ("main.G.w.dat", dat[:-4])])
tgz("text.tgz", [("main.sknd", b"graph G {"), good[1]])
tgz("empty.tgz", [])
with open(os.path.join(out, "nonsense.tgz"), "wb") as file:
    file.write(b"nonsense")
with open(os.path.join(out, "plain.tar.gz"), "rb") as file:
    whole = file.read()
with open(os.path.join(out, "cut.tgz"), "wb") as file:
    file.write(whole[:-30])


def safetensors(name, dtype, data, shape=(2, 3)):
    header = json.dumps({"main.G.w": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    with open(os.path.join(out, name), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


safetensors("f32.safetensors", "F32", values.tobytes())
safetensors("f16.safetensors", "F16", values.astype("<f2").tobytes())
safetensors("bf16.safetensors", "BF16", (values.view("<u4") >> 16).astype("<u2").tobytes())
safetensors("f64.safetensors", "F64", values.astype("<f8").tobytes())
safetensors("large.safetensors", "F64", (values.astype("<f8") + 1e300).tobytes())
safetensors("i32.safetensors", "I32", values.astype("<i4").tobytes())
safetensors("shape.safetensors", "F32", values.tobytes(), (3, 2))
safetensors("lie.safetensors", "F32", values.tobytes()[:-1])
with open(os.path.join(out, "long.safetensors"), "wb") as file:
    file.write(b"\xff" * 64)
np.savez(os.path.join(out, "stored.npz"), **{"main.G.w": values})
np.savez_compressed(os.path.join(out, "deflated.npz"), **{"main.G.w": values.astype("f8")})
np.savez(os.path.join(out, "other.npz"), other=values)


def damaged(name, source, at, value):
    """A copy with a changed byte after each of the signatures in `at`."""
    with open(os.path.join(out, source), "rb") as file:
        data = bytearray(file.read())
    for signature, offset in at:
        data[data.index(signature) + offset] = value
    with open(os.path.join(out, name), "wb") as file:
        file.write(data)


np.savez_compressed(os.path.join(out, "bomb.npz"), **{"main.G.w": np.zeros((1 << 10, 1 << 13))})
damaged("method.npz", "stored.npz", [(b"PK\3\4", 8), (b"PK\1\2", 10)], 99)
damaged("sum.npz", "stored.npz", [(values.tobytes()[4:12], 0)], 7)

# The header of a member of 5 GiB, without its bytes.
large = tarfile.TarInfo("w.dat")
large.size = 5 << 30
first = tarfile.TarInfo("main.sknd")
first.size = len(text)
with gzip.open(os.path.join(out, "large.tgz"), "wb") as file:
    file.write(first.tobuf() + text + bytes(-len(text) % 512) + large.tobuf(tarfile.GNU_FORMAT))
with gzip.open(os.path.join(out, "untarred.tgz"), "wb") as file:
    file.write(text * 20)
