# SPDX-License-Identifier: Apache-2.0
"""Functions that build the bytes of entries, for the expressions after `=`."""
import gzip
import io
import json
import math
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import zipfile
import zlib

import blake3
from onnx_bytes import *  # noqa: F403

# Peak resident memory of each tool on a small valid input, in bytes, and the folder of the files of `prepare`.
BASE, STORE = {}, pathlib.Path()

MODEL = """graph G {
    @input { x: real[2,3]; }
    @output { y: real[2,3]; }
    @variable { w: real[2,3]; }
    @compose { y = f(x, w); }
}
operator f {
    @input { x: real[n,m]; w: real[n,m]; }
    @output { y: real[n,m]; }
    @assert { n > 0; }
    @lower { y[i,j] = x[i,j] * w[i,j], i < n, j < m; }
}
"""


def u8(*values):
    return bytes(values)


def u16(*values):
    return struct.pack(f"<{len(values)}H", *values)


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


def zeros(count):
    return bytes(count)


def cut(data, length):
    """The first bytes of a file; all but the last ones if the length is negative."""
    return data[:length]


def put(data, at, value):
    """A file with other bytes at an offset, which counts from the end if it is negative."""
    at += len(data) if at < 0 else 0
    return data[:at] + value + data[at + len(value):]


def swap(data, old, new, count=1):
    """A file in which some bytes are replaced."""
    assert old in data, old
    return data.replace(old, new, count)


# Arrays.

def npy(header, data=b"", version=(1, 0), length=None):
    text = header.encode() if isinstance(header, str) else header
    length = len(text) if length is None else length
    size = struct.pack("<H" if version[0] == 1 else "<I", length)
    return b"\x93NUMPY" + bytes(version) + size + text + data


def array(shape="(2, 3)", data=bytes(24), descr="'<f4'", fortran="False", **options):
    """A .npy file whose dictionary has these values."""
    return npy("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, fortran, shape), data, **options)


def dat(extents=(2, 3), data=bytes(24), bits=32, kind=0, length=None, rank=None, magic=b"\x4e\xef\x01\x00", reserved=()):
    length = len(data) if length is None else length
    rank = len(extents) if rank is None else rank
    header = magic + u32(length, rank) + u32(*extents[:8]).ljust(32, b"\0") + u32(bits, kind, *reserved)
    return header.ljust(128, b"\0") + data


def tensors(header, data=b"", length=None):
    """A .safetensors file."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    return u64(len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(2, 3), offsets=(0, 24), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


def gguf(tensors=(), **keys):
    """A .gguf file with (name, shape, type code, offset) of tensors, whose data are zeros; `tokenizer.ggml.` precedes names of keys without
    a dot."""
    def text(value):
        value = value if isinstance(value, bytes) else value.encode()
        return u64(len(value)) + value

    def item(value):
        kinds = [(bool, 7, lambda: u8(value)), (int, 5, lambda: struct.pack("<i", value)), (float, 6, lambda: f32(value)),
                 ((str, bytes), 8, lambda: text(value))]
        return next((code, make) for kind, code, make in kinds if isinstance(value, kind))

    def encoded(value):
        if isinstance(value, list):
            items = [item(x) for x in value]
            return u32(9, items[0][0] if items else 8) + u64(len(items)) + b"".join(make() for _, make in items)
        code, make = item(value)
        return u32(code) + make()

    named = {name if "." in name else "tokenizer.ggml." + name: value for name, value in keys.items()}
    body = b"".join(text(name) + encoded(value) for name, value in named.items())
    table = b"".join(text(name) + u32(len(shape)) + u64(*reversed(shape)) + u32(kind) + u64(offset) for name, shape, kind, offset in tensors)
    size = max([offset + 4 * math.prod(shape) for _, shape, _, offset in tensors if math.prod(shape) < 1 << 16 and offset < 1 << 20], default=0)
    header = b"GGUF" + u32(3) + u64(len(tensors), len(named)) + body + table
    return header + bytes(-len(header) % 32 + size if tensors else 0)


def language_model(architecture="llama", changed=(), **keys):
    """A .gguf file of a model with one layer of 32 features and two heads; `changed` replaces tensors by name, `keys` replace keys, None
    removes."""
    shapes = {"token_embd": (10, 32), "output_norm": (32,), "blk.0.attn_norm": (32,), "blk.0.ffn_norm": (32,), "blk.0.attn_q": (32, 32),
              "blk.0.attn_k": (16, 32), "blk.0.attn_v": (16, 32), "blk.0.attn_output": (32, 32), "blk.0.ffn_gate": (64, 32),
              "blk.0.ffn_up": (64, 32), "blk.0.ffn_down": (32, 64)}
    tensors, offset = {}, 0
    for name, shape in shapes.items():
        tensors[name + ".weight"] = (shape, 0, offset)
        offset += 4 * math.prod(shape)
    tensors.update(dict(changed))
    own = {"block_count": 1, "context_length": 64, "embedding_length": 32, "attention.head_count": 2, "attention.head_count_kv": 1,
           "attention.layer_norm_rms_epsilon": 1e-5}
    own = {architecture + "." + name: value for name, value in own.items()}
    known = {"general.architecture": architecture, **own, **{name.replace("__", "."): value for name, value in keys.items()}}
    return gguf([(name, *entry) for name, entry in tensors.items() if entry], **{n: v for n, v in known.items() if v is not None})


def vocabulary(model="gpt2", **keys):
    """A .gguf file with a small vocabulary, changed by `keys`; None removes one."""
    small = {"pre": "gpt-2", "merges": ["a b", "ab a"]} if model == "gpt2" else {"scores": [0.0, -1.0, -2.0, -3.0]}
    small = {"model": model, "tokens": ["a", "b", "ab", "aba"], "token_type": [1] * 4, **small, **keys}
    return gguf(**{name: value for name, value in small.items() if value is not None})


def zipped(*members, method=zipfile.ZIP_STORED, comment=b""):
    """A zip archive of (name, bytes)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, method)
        archive.comment = comment
    return stream.getvalue()


def deflated(*members):
    return zipped(*members, method=zipfile.ZIP_DEFLATED)


# Packed models.

def member(name, data=b"", kind=b"0", size=None, magic=b"ustar\x0000", prefix=b"", checksum=None, link=b"", mode=b"0000644\0"):
    """A header of tar and the padded data."""
    name, data = (text.encode() if isinstance(text, str) else text for text in (name, data))
    size = b"%011o\0" % len(data) if size is None else size
    header = (name.ljust(100, b"\0")[:100] + mode + b"0000000\0" * 2 + size.ljust(12, b"\0")[:12] + b"00000000000\0" + b" " * 8 + kind
              + link.ljust(100, b"\0") + magic + b"\0" * 80 + prefix.ljust(155, b"\0")).ljust(512, b"\0")
    total = sum(header) if checksum is None else checksum
    header = header[:148] + b"%06o\0 " % total + header[156:]
    return header + data + bytes(-len(data) % 512)


def tar(*members):
    return b"".join(members) + bytes(1024)


def tgz(*members):
    return gzip.compress(tar(*members), mtime=0)


def gz(data):
    return gzip.compress(data, mtime=0)


def pax(**records):
    """A pax header with these records."""
    text = b""
    for key, value in records.items():
        line = f" {key}={value}\n".encode()
        length = len(line)
        while len(str(length)) + len(line) != length:
            length = len(str(length)) + len(line)
        text += str(length).encode() + line
    return member("PaxHeaders/x", text, b"x")


# Compiled models.

def sealed(data):
    """A compiled model whose length and checksum are those of its changed body."""
    body = data[:12] + u64(len(data) - 20) + data[20:]
    return body + blake3.digest(body)


def unsealed(data):
    return data[:-32]


def stored(extension):
    """The file of the cache with an extension."""
    return cache_path(STORE / "home", extension).read_bytes()


def cache_path(home, extension):
    found = [path for path in home.rglob("*") if path.suffix == f".{extension}"]
    return found[0]


# Messages of editors.

def message(content):
    text = content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode()
    return b"Content-Length: %d\r\n\r\n" % len(text) + text


def request(method, params=None, number=2):
    return message({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def note(method, params=None):
    return message({"jsonrpc": "2.0", "method": method, "params": params})


def opened(text, uri="file:///nowhere/main.sknd", version=1):
    document = {"uri": uri, "languageId": "skriptnd", "version": version, "text": text}
    return note("textDocument/didOpen", {"textDocument": document})


def changed(text, uri="file:///nowhere/main.sknd", version=2):
    return note("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]})


def asked(method, line=0, character=0, uri="file:///nowhere/main.sknd", number=2, **more):
    place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
    return request(f"textDocument/{method}", {**place, **more}, number)


def session(*messages, end=True):
    """A conversation from initialization to exit."""
    start = request("initialize", {"capabilities": {}}, 1) + note("initialized", {})
    return start + b"".join(messages) + (request("shutdown", None, 99) + note("exit") if end else b"")


# Programs.

def function(body, arguments="%a: tensor<2x3xf32>", results="tensor<2x3xf32>"):
    return f"module {{\n  func.func public @main({arguments}) -> {results} {{\n    {body}\n  }}\n}}\n"


def evaluate(expression):
    """The value of an expression of an entry, which is a part of this repository."""
    return eval(expression, globals())  # noqa: S307


def words(command):
    """The words of a command. `{store}` is the folder of prepared files, `<<…>>` an expression."""
    values = []

    def keep(match):
        values.append(str(evaluate(match[1])))
        return f"@{len(values) - 1}@"

    command = re.sub(r"<<(.*?)>>", keep, command.replace("{store}", str(STORE)))
    return [re.sub(r"@(\d+)@", lambda match: values[int(match[1])], word) for word in shlex.split(command)]


def prepare(binaries):
    """Compiles the model that entries change, fills a cache, and measures the memory of the tools."""
    global STORE, SKM, EMBEDDED
    STORE = pathlib.Path(tempfile.mkdtemp(prefix="skript-hostile-store-"))
    model, home = STORE / "model", STORE / "home"
    model.mkdir()
    home.mkdir()
    (model / "main.sknd").write_text(MODEL)
    (model / "main.G.w.dat").write_bytes(dat(data=f32(1, 2, 3, 4, 5, 6)))
    (model / "x.npy").write_bytes(array(data=f32(1, 1, 1, 1, 1, 2)))
    skript = binaries / "skript"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_CACHE_HOME": str(home), "SKRIPT_NUM_THREADS": "1"}
    for arguments in (["compile", model, "-o", STORE / "plain.skm", "--cpu=x86-64-v3" if "x86" in platform() else "--cpu=native"],
                      ["compile", model, "-o", STORE / "embedded.skm", "--embed-weights"],
                      ["run", model, "--input", f"x={model / 'x.npy'}"]):
        subprocess.run([skript, *map(str, arguments)], env=environment, check=True, capture_output=True, cwd=STORE)
    SKM, EMBEDDED = ((STORE / name).read_bytes() for name in ("plain.skm", "embedded.skm"))
    import os
    for tool, arguments in (("skript", ["run", model, "--no-cache", "--input", f"x={model / 'x.npy'}"]),
                            ("skript-run", [STORE / "plain.skm", "--weights", model, "--input", f"x={model / 'x.npy'}"]),
                            ("skript-language-server", [])):
        process = subprocess.Popen([binaries / tool, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        BASE[tool] = usage.ru_maxrss * 1024


def platform():
    import os
    return os.uname().machine


def discard():
    shutil.rmtree(STORE, ignore_errors=True)
