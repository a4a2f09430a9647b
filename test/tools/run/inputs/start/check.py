# SPDX-License-Identifier: Apache-2.0
"""Checks that runs of a model with a record do not start the driver and have the same output, and that after any change the driver runs.

    check.py FOLDER       a folder for copies of the tools and of the model
"""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
WORK = pathlib.Path(sys.argv[1])
TOOLS, MODEL, CACHE = WORK / "bin", WORK / "model", WORK / "cache"
REAL = pathlib.Path(shutil.which("skript")).resolve().parent / "skript-driver"
DRIVER = TOOLS / "skript-driver"
CALLED = 42


def use_driver():
    DRIVER.unlink(missing_ok=True)
    DRIVER.symlink_to(REAL)


def use_stand_in():
    """Replaces the driver by a program with its file size and time that only reports that it was called."""
    DRIVER.unlink(missing_ok=True)
    status = REAL.stat()
    DRIVER.write_text("#!/bin/sh\nexit %d\n" % CALLED)
    os.truncate(DRIVER, status.st_size)
    DRIVER.chmod(0o755)
    os.utime(DRIVER, ns=(status.st_atime_ns, status.st_mtime_ns))


def outputs(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}


def call(program, words, output):
    folder = WORK / "out"
    shutil.rmtree(folder, ignore_errors=True)
    words = ["run", *map(str, words)] + (["--output-dir", str(folder)] if output else [])
    environment = {**os.environ, "XDG_CACHE_HOME": str(CACHE)}
    done = subprocess.run(["skript", *words], executable=program, cwd=WORK, env=environment, capture_output=True)
    return done.returncode, done.stdout, done.stderr, outputs(folder)


def check(what, words, expected, output=True):
    """`expected`: whether the run is repeated from its record. In both cases it must have the results of the driver, and a successful
    run must leave a record."""
    use_stand_in()
    started = call(TOOLS / "skript", words, output)
    use_driver()
    driven = call(REAL, words, output)
    if expected:
        assert started == driven, (what, started, driven)
        assert driven[0] == 0, (what, driven)
    else:
        assert started == (CALLED, b"", b"", {}), (what, started)
        assert call(TOOLS / "skript", words, output) == driven, what
        use_stand_in()
        again = call(TOOLS / "skript", words, output)
        has_record = driven[0] == 0 and not driven[2]
        assert again == (driven if has_record else (CALLED, b"", b"", {})), (what, again, driven)
    print(what)


def write(path, content):
    """Replaces a file by a new one, as editors do."""
    new = path.with_suffix(".new")
    new.write_bytes(content.encode() if isinstance(content, str) else content)
    os.replace(new, path)


def weights(values):
    array = np.array(values, "f")
    header = '{"main.Start.w":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}' % (array.size, array.nbytes)
    header = header.ljust(-len(header) % 8 + len(header)).encode()
    write(MODEL / "main.safetensors", len(header).to_bytes(8, "little") + header + array.tobytes())


shutil.rmtree(WORK, ignore_errors=True)
TOOLS.mkdir(parents=True)
MODEL.mkdir()
shutil.copy2(REAL.with_name("skript"), TOOLS / "skript")
for name in ["main.sknd", "own.sknd"]:
    shutil.copy(HERE / name, MODEL / name)
weights([1, 2, 3, 4])
random = np.random.default_rng(1)
for name, shape in [("x", (4, 4)), ("more", (8, 4)), ("odd", (3, 4)), ("flat", (4,)), ("s", (4,)), ("wide", (5,))]:
    np.save(WORK / (name + ".npy"), random.standard_normal(shape).astype("f"))
np.save(WORK / "whole.npy", np.arange(16).reshape(4, 4))
RUN = ["model", "--input", "x=x.npy", "--input", "s=s.npy"]


def using(name):
    return ["model", "--input", "x=%s.npy" % name, "--input", "s=s.npy"]


check("the first run", RUN, False)
check("the second run", RUN, True)
check("threads are not known", [*RUN, "--threads", 1], False)
check("other threads", [*RUN, "--threads", 2], True)
check("no threads", [*RUN, "--threads", 0], False)
check("a summary is a different command", RUN, False, output=False)
check("a summary", RUN, True, output=False)
check("another extent", using("more"), True)
check("a failed assertion", using("odd"), False)
check("another rank", using("flat"), False)
check("another kind", using("whole"), False)
check("no array", using("nothing"), False)
check("another shape", ["model", "--input", "x=x.npy", "--input", "s=wide.npy"], False)
check("still a record", RUN, True)
check("an option", [*RUN, "--real=f16"], False)
check("the same option", [*RUN, "--real=f16"], True)
check("an unknown option", [*RUN, "--real=f17"], False)
for flag in ["--no-cache", "--engine=reference", "--stats=stats.json", "--repeat=2", "--weights=zero", "--variables=model"]:
    use_driver()
    done = [call(TOOLS / "skript", [*RUN, flag], True)[0] for _ in range(2)]
    use_stand_in()
    assert done == [0, 0] and call(TOOLS / "skript", [*RUN, flag], True)[0] == CALLED, (flag, done)

weights([4, 3, 2, 1])
check("other weights", RUN, True)
weights([1, 2, 3])
check("weights of another shape", RUN, False)
(MODEL / "main.safetensors").unlink()
check("no weights", RUN, False)
weights([1, 2, 3, 4])
check("weights again", RUN, True)

main, own = (MODEL / "main.sknd").read_text(), (MODEL / "own.sknd").read_text()
for name, text, old, new in [("main.sknd", main, "math.mul", "math.sub"), ("own.sknd", own, "c[i,] = i", "c[i,] = 2 * i")]:
    write(MODEL / name, text.replace(old, new))
    check("another %s" % name, RUN, False)
    write(MODEL / name, text.replace(old, "error"))
    check("a wrong %s" % name, RUN, False)
    write(MODEL / name, text)
    check("%s again" % name, RUN, False)
write(MODEL / "math.sknd", "operator add {\n@input { x: real[n, m]; y: real[m]; }\n@output { z: real[n, m]; }\n@lower { z[i, j] = y[j,], i < n, j < m; }\n}\noperator mul {\n@input { x: real[n, m]; y: real[m]; }\n@output { z: real[n, m]; }\n@lower { z[i, j] = x[i, j], i < n, j < m; }\n}\n")
check("a module before the library's", RUN, False)
check("the same module", RUN, True)
(MODEL / "math.sknd").unlink()
check("the library's module", RUN, False)

origin = '{"version": 1, "real": "f32", "inputs": [{"onnx": "%s", "skript": "x"}], "outputs": [{"onnx": "z", "skript": "z", "dtype": "i32"}]}'
write(MODEL / "import.json", origin % "in.1")
check("an imported model", RUN, False)
check("the same imported model", RUN, True)
FOREIGN = ["model", "--input", "s=s.npy", "--input", "in.1=x.npy"]
check("an ONNX name", FOREIGN, False)
check("the same name", FOREIGN, True)
write(MODEL / "import.json", origin % "in.2")
check("another ONNX name", FOREIGN, False)
(MODEL / "import.json").unlink()
check("no imported model", RUN, False)

for ending in ["skm", "run"]:
    for path in (CACHE / "skript").glob("*." + ending):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    check("a damaged .%s" % ending, RUN, False)
for path in (CACHE / "skript").glob("*.skm"):
    path.unlink()
check("no code", RUN, False)

os.utime(TOOLS / "skript", (1, 1))
check("another start", RUN, False)
DRIVER.unlink()
status, _, said, _ = call(TOOLS / "skript", RUN, True)
assert status == 1 and said.decode() == "skript: error: cannot execute %s: No such file or directory (os error 2)\n" % DRIVER, said
print("no driver")
