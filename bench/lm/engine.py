# SPDX-License-Identifier: Apache-2.0
"""Measures one engine in this process; prints the figures as JSON.

    engine.py ENGINE FILE.gguf THREADS
"""
import json
import os
import resource
import subprocess
import sys
import time

PROMPT, GENERATED = 512, 128
TEXT = "Write one sentence about the sea. "


def skript(model, threads, activations="real"):
    """`skript bench` for the rates, and a short text for the first token."""
    program = os.environ["SKRIPT"]
    figures = os.path.join(os.environ.get("TMPDIR", "/tmp"), "skript-lm-%d.json" % os.getpid())
    subprocess.run([program, "bench", model, "--threads", str(threads), "--calls", "3", "--json", figures,
                    "--activations", activations], check=True, stdout=subprocess.DEVNULL)
    with open(figures) as file:
        bench = json.load(file)
    os.remove(figures)
    command = [program, "generate", model, "--prompt", TEXT, "--temperature", "0", "-n", "1", "--quiet", "--threads", str(threads),
               "--activations", activations]
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    first = time.perf_counter() - begun
    return bench["pp%d" % PROMPT], bench["tg%d" % GENERATED], first, bench["peak_bytes"] / 1e6


def skript_int8(model, threads):
    return skript(model, threads, "int8")


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def llama_cpp(model, threads):
    """The server of the package, in this process."""
    begun = time.perf_counter()
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = PROMPT + GENERATED + 64
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.n_gpu_layers = 0
    server = xllamacpp.Server(parameters)

    def complete(prompt, count):
        answer = server.handle_completions({"prompt": prompt, "max_tokens": count, "temperature": 0, "ignore_eos": True,
                                            "cache_prompt": False})
        return answer["timings"]

    complete(TEXT, 1)
    first = time.perf_counter() - begun
    timings = [complete(TEXT * (PROMPT // 8), GENERATED) for _ in range(3)]
    return max(t["prompt_per_second"] for t in timings), max(t["predicted_per_second"] for t in timings), first, resident()


def openvino(model, threads):
    begun = time.perf_counter()
    import openvino_genai

    pipeline = openvino_genai.LLMPipeline(model, "CPU", INFERENCE_NUM_THREADS=threads)
    pipeline.generate(TEXT, max_new_tokens=1)
    first = time.perf_counter() - begun
    prompt, generation = 0, 0
    for number in range(3):
        # Equal beginnings of prompts would be read from a cache.
        done = pipeline.generate(["%d " % number + TEXT * (PROMPT // 8)], max_new_tokens=GENERATED, ignore_eos=True, do_sample=False)
        metrics = done.perf_metrics
        prompt = max(prompt, metrics.get_num_input_tokens() / metrics.get_ttft().mean * 1e3)
        generation = max(generation, 1e3 / metrics.get_tpot().mean)
    return prompt, generation, first, resident()


prompt, generation, first, memory = {"skript": skript, "skript-int8": skript_int8, "llama.cpp": llama_cpp, "openvino": openvino}[sys.argv[1]](
    sys.argv[2], int(sys.argv[3]))
print(json.dumps({"prompt": prompt, "generation": generation, "first_ms": first * 1e3, "memory_mb": memory}))
