# SPDX-License-Identifier: Apache-2.0
"""Small language models as GGUF files, and their logits by numpy.

    gguf_models.py write FOLDER     writes NAME.gguf for each model, and tokens.npy
    gguf_models.py check FILE LOGITS.npy
    gguf_models.py logits FILE TOKENS.npy LOGITS.npy
"""
import os
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

EMBEDDING, HEADS, GROUPS, SIZE, HIDDEN, VOCABULARY = 256, 4, 2, 64, 512, 40
TOKENS = np.array([3, 0, 39, 7, 7, 21, 12], dtype=np.int64)

# The types of the embedding, of the attention and of the other matrices in each layer.
MODELS = {
    "f32": ("llama", Type.F32, [(Type.F32, Type.F16), (Type.F32, Type.F16)]),
    "q4_0": ("llama", Type.Q8_0, [(Type.Q4_0, Type.Q4_1), (Type.Q4_1, Type.Q5_0)]),
    "q4_k": ("llama", Type.Q6_K, [(Type.Q4_K, Type.Q6_K), (Type.Q4_K, Type.Q4_K)]),
    "qwen2": ("qwen2", Type.Q8_0, [(Type.Q5_1, Type.Q8_0), (Type.Q5_1, Type.Q8_0)]),
    "qwen3": ("qwen3", Type.BF16, [(Type.Q5_K, Type.IQ4_NL), (Type.Q2_K, Type.Q3_K)]),
    "gemma": ("gemma", Type.Q8_0, [(Type.Q4_0, Type.Q4_1), (Type.Q4_0, Type.Q4_1)]),
    "gemma2": ("gemma2", Type.Q8_0, [(Type.Q4_0, Type.F32), (Type.Q4_0, Type.F32)]),
    "gemma3": ("gemma3", Type.Q8_0, [(Type.Q8_0, Type.Q4_0)] * 6),
    "phi3": ("phi3", Type.F32, [(Type.Q4_0, Type.Q8_0), (Type.Q4_0, Type.Q8_0)]),
    "ternary": ("llama", Type.Q8_0, [(Type.NVFP4, Type.TQ1_0), (Type.TQ2_0, Type.NVFP4)]),
    "mixtral": ("llama", Type.Q8_0, [(Type.Q4_0, Type.Q4_K), (Type.Q4_0, Type.F16), (Type.Q4_0, Type.Q8_0)]),
    "qwen2moe": ("qwen2moe", Type.Q8_0, [(Type.Q4_0, Type.Q4_0), (Type.Q4_0, Type.Q5_1)]),
    "qwen3moe": ("qwen3moe", Type.Q8_0, [(Type.Q4_0, Type.Q6_K), (Type.Q4_0, Type.F32)]),
}
# The numbers of experts and of those of a token. The last layer of "mixtral" has none.
EXPERTS = {"mixtral": (5, 2), "qwen2moe": (6, 3), "qwen3moe": (4, 1)}
# Keys of the architectures, and the names of the norms after the attention and after the gated unit.
WINDOW, POST_NORMS = 4, ("post_attention_norm", "post_ffw_norm")
KEYS = {
    "gemma2": {"attention.sliding_window": WINDOW, "attn_logit_softcapping": 3.0, "final_logit_softcapping": 10.0},
    "gemma3": {"attention.sliding_window": WINDOW, "rope.freq_base_swa": 300.0, "rope.scaling.type": "linear",
               "rope.scaling.factor": 8.0},
    "phi3": {"attention.sliding_window": WINDOW, "rope.scaling.attn_factor": 1.25, "rope.scaling.original_context_length": 32},
}

# The positions of the 16-bit scales in a block, and the upper byte that makes elements at most about 0.3.
SCALES = {Type.Q2_K: ([80, 82], 0x1c), Type.Q3_K: ([108], 0x14), Type.Q4_K: ([0, 2], 0x0c), Type.Q5_K: ([0, 2], 0x08),
          Type.Q6_K: ([208], 0x04), Type.IQ4_NL: ([0], 0x14), Type.NVFP4: ([-1, 0, 1, 2], 0x14)}


def matrix(random, rows, columns, kind):
    """The stored bytes or elements of a matrix."""
    if kind not in SCALES:
        values = random.normal(0, 0.08, (rows, columns)).astype(np.float32)
        return gguf.quants.quantize(values, kind)
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (rows, columns // elements, size), dtype=np.uint8)
    positions, upper = SCALES[kind]
    for at in positions:
        blocks[..., at + 1] = upper
    return blocks.reshape(rows, -1)


def write(path, name, vocabulary=VOCABULARY, describe=lambda writer: None, context=64):
    """Writes a model; `describe` adds the tokenizer of its vocabulary."""
    architecture, embedding, layers = MODELS[name]
    random = np.random.default_rng(sum(name.encode()))
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("Model " + name)
    writer.add_block_count(len(layers))
    writer.add_context_length(context)
    writer.add_embedding_length(EMBEDDING)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(GROUPS)
    writer.add_rope_freq_base(1000.0)
    writer.add_rope_dimension_count(SIZE if architecture != "llama" else 48)
    writer.add_layer_norm_rms_eps(1e-5)
    keys = dict(KEYS.get(architecture, {}))
    if name in EXPERTS:
        keys["expert_count"], keys["expert_used_count"] = EXPERTS[name]
    for key, value in keys.items():
        add = {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}[type(value)]
        add("%s.%s" % (architecture, key), value)
    describe(writer)

    def add(tensor, rows, columns, kind):
        writer.add_tensor(tensor + ".weight", matrix(random, rows, columns, kind), raw_dtype=kind)
        if architecture.startswith("qwen2") and tensor.split(".")[-1] in ("attn_q", "attn_k", "attn_v"):
            writer.add_tensor(tensor + ".bias", random.normal(0, 0.1, rows).astype(np.float32))

    def experts(tensor, rows, columns, kind):
        count = EXPERTS[name][0]
        stored = matrix(random, count * rows, columns, kind)
        writer.add_tensor(tensor + ".weight", stored.reshape(count, rows, -1), raw_dtype=kind)

    def mixture(blk, kind):
        add(blk + "ffn_gate_inp", EXPERTS[name][0], EMBEDDING, Type.F32)
        experts(blk + "ffn_gate_exps", HIDDEN, EMBEDDING, kind)
        experts(blk + "ffn_up_exps", HIDDEN, EMBEDDING, kind)
        experts(blk + "ffn_down_exps", EMBEDDING, HIDDEN, kind)
        if architecture == "qwen2moe":
            writer.add_tensor(blk + "ffn_gate_inp_shexp.weight", random.normal(0, 0.1, EMBEDDING).astype(np.float32))
            add(blk + "ffn_gate_shexp", HIDDEN // 2, EMBEDDING, kind)
            add(blk + "ffn_up_shexp", HIDDEN // 2, EMBEDDING, kind)
            add(blk + "ffn_down_shexp", EMBEDDING, HIDDEN // 2, kind)

    def norm(tensor, size):
        writer.add_tensor(tensor + ".weight", random.uniform(0.5, 1.5, size).astype(np.float32))

    add("token_embd", vocabulary, EMBEDDING, embedding)
    norm("output_norm", EMBEDDING)
    if name == "q4_0":
        add("output", vocabulary, EMBEDDING, Type.Q4_0)
        writer.add_tensor("rope_freqs.weight", np.linspace(1, 4, 24, dtype=np.float32))
    if name == "phi3":
        add("output", vocabulary, EMBEDDING, Type.Q4_0)
        writer.add_tensor("rope_factors_short.weight", np.linspace(1, 2, 32, dtype=np.float32))
        writer.add_tensor("rope_factors_long.weight", np.linspace(1, 9, 32, dtype=np.float32))
    for layer, (attention, others) in enumerate(layers):
        blk = "blk.%d." % layer
        norm(blk + "attn_norm", EMBEDDING)
        norm(blk + "ffn_norm", EMBEDDING)
        if architecture in ("qwen3", "qwen3moe", "gemma3"):
            norm(blk + "attn_q_norm", SIZE)
            norm(blk + "attn_k_norm", SIZE)
        if architecture in ("gemma2", "gemma3"):
            for after in POST_NORMS:
                norm(blk + after, EMBEDDING)
        if architecture == "phi3":
            add(blk + "attn_qkv", (HEADS + 2 * GROUPS) * SIZE, EMBEDDING, attention)
            add(blk + "ffn_up", 2 * HIDDEN, EMBEDDING, others)
        else:
            add(blk + "attn_q", HEADS * SIZE, EMBEDDING, attention)
            add(blk + "attn_k", GROUPS * SIZE, EMBEDDING, attention)
            add(blk + "attn_v", GROUPS * SIZE, EMBEDDING, Type.Q8_0 if name in EXPERTS else others)
        add(blk + "attn_output", EMBEDDING, HEADS * SIZE, attention)
        if name in EXPERTS and (name, layer) != ("mixtral", 2):
            mixture(blk, others)
            continue
        if architecture != "phi3":
            add(blk + "ffn_gate", HIDDEN, EMBEDDING, others)
            add(blk + "ffn_up", HIDDEN, EMBEDDING, others)
        add(blk + "ffn_down", EMBEDDING, HIDDEN, others)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def bounded(x, cap):
    return cap * np.tanh(x / cap) if cap else x


class Model:
    """A language model that computes in f64 with dequantized weights."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.tensors = {tensor.name: tensor for tensor in reader.tensors}
        self.architecture = reader.fields["general.architecture"].contents()
        prefix = self.architecture + "."
        self.keys = {name[len(prefix):]: field.contents() for name, field in reader.fields.items() if name.startswith(prefix)}
        self.loaded = {}

    def weight(self, name):
        if name not in self.loaded:
            tensor = self.tensors[name]
            self.loaded[name] = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float64)
        return self.loaded[name]

    def linear(self, name, x):
        y = x @ self.weight(name + ".weight").T
        return y + self.weight(name + ".bias") if name + ".bias" in self.tensors else y

    def norm(self, name, x):
        mean = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(mean + self.keys["attention.layer_norm_rms_epsilon"]) * self.weight(name + ".weight")

    def is_local(self, layer):
        """Whether the attention of a layer has a window."""
        period = {"gemma2": 2, "gemma3": 6, "phi3": layer + 2}.get(self.architecture, 1)
        return (layer + 1) % period != 0

    def turned(self, x, layer):
        """x: [tokens, heads, size]."""
        size = self.keys.get("rope.dimension_count", x.shape[-1])
        is_local = self.is_local(layer) and "rope.freq_base_swa" in self.keys
        base = self.keys["rope.freq_base_swa" if is_local else "rope.freq_base"]
        frequency = base ** (-np.arange(0, size, 2) / size)
        if "rope.scaling.factor" in self.keys and not is_local:
            frequency = frequency / self.keys["rope.scaling.factor"]
        is_long = self.keys["context_length"] > self.keys.get("rope.scaling.original_context_length", np.inf)
        for factors in ("rope_freqs.weight", "rope_factors_%s.weight" % ("long" if is_long else "short")):
            if factors in self.tensors:
                frequency = frequency / self.weight(factors)
        turns = np.exp(1j * np.arange(len(x))[:, None, None] * frequency) * self.keys.get("rope.scaling.attn_factor", 1)
        first, second = (x[..., 0:size:2], x[..., 1:size:2]) if self.architecture == "llama" else \
            (x[..., :size // 2], x[..., size // 2:size])
        z = (first + 1j * second) * turns
        y = x.copy()
        if self.architecture == "llama":
            y[..., 0:size:2], y[..., 1:size:2] = z.real, z.imag
        else:
            y[..., :size // 2], y[..., size // 2:size] = z.real, z.imag
        return y

    def heads(self, blk, x):
        """The heads of queries, keys and values."""
        heads, groups = self.keys["attention.head_count"], self.keys["attention.head_count_kv"]
        if blk + "attn_qkv.weight" in self.tensors:
            all_heads = self.linear(blk + "attn_qkv", x).reshape(len(x), heads + 2 * groups, -1)
            return np.split(all_heads, [heads, heads + groups], axis=1)
        return (self.linear(blk + name, x).reshape(len(x), count, -1)
                for name, count in [("attn_q", heads), ("attn_k", groups), ("attn_v", groups)])

    def attention(self, layer, x):
        blk = "blk.%d." % layer
        heads, groups = self.keys["attention.head_count"], self.keys["attention.head_count_kv"]
        q, k, v = self.heads(blk, x)
        if blk + "attn_q_norm.weight" in self.tensors:
            q, k = self.norm(blk + "attn_q_norm", q), self.norm(blk + "attn_k_norm", k)
        q, k = self.turned(q, layer), self.turned(k, layer)
        k, v = (np.repeat(t, heads // groups, axis=1) for t in (k, v))
        scores = np.einsum("thd,jhd->htj", q, k) / np.sqrt(q.shape[-1])
        scores = bounded(scores, self.keys.get("attn_logit_softcapping"))
        scores[:, np.triu(np.ones((len(x), len(x)), bool), 1)] = -np.inf
        if self.is_local(layer) and self.keys.get("attention.sliding_window"):
            scores[:, np.tril(np.ones((len(x), len(x)), bool), -self.keys["attention.sliding_window"])] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return self.linear(blk + "attn_output", np.einsum("htj,jhd->thd", weights, v).reshape(len(x), -1))

    def experts(self, blk, x):
        """The sums of the selected experts of each token."""
        logits = self.linear(blk + "ffn_gate_inp", x)
        probabilities = np.exp(logits - logits.max(-1, keepdims=True))
        probabilities /= probabilities.sum(-1, keepdims=True)
        gate, up, down = (self.weight(blk + "ffn_%s_exps.weight" % part) for part in ("gate", "up", "down"))
        y = np.zeros_like(x)
        for t, row in enumerate(x):
            used = np.argsort(-probabilities[t], kind="stable")[:self.keys["expert_used_count"]]
            weight = probabilities[t, used]
            if self.architecture != "qwen2moe":
                weight = weight / weight.sum()
            for e, w in zip(used, weight):
                opened = gate[e] @ row
                y[t] += w * (down[e] @ (opened / (1 + np.exp(-opened)) * (up[e] @ row)))
        if blk + "ffn_gate_inp_shexp.weight" in self.tensors:
            gate, up = self.linear(blk + "ffn_gate_shexp", x), self.linear(blk + "ffn_up_shexp", x)
            shared = self.linear(blk + "ffn_down_shexp", gate / (1 + np.exp(-gate)) * up)
            y += shared / (1 + np.exp(-x @ self.weight(blk + "ffn_gate_inp_shexp.weight")))[:, None]
        return y

    def gated(self, blk, x):
        if blk + "ffn_gate_inp.weight" in self.tensors:
            return self.experts(blk, x)
        if blk + "ffn_gate.weight" in self.tensors:
            gate, up = self.linear(blk + "ffn_gate", x), self.linear(blk + "ffn_up", x)
        else:
            gate, up = np.split(self.linear(blk + "ffn_up", x), 2, axis=1)
        if self.architecture.startswith("gemma"):
            opened = 0.5 * gate * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate ** 3)))
        else:
            opened = gate / (1 + np.exp(-gate))
        return self.linear(blk + "ffn_down", opened * up)

    def logits(self, tokens):
        x = self.weight("token_embd.weight")[tokens]
        if self.architecture.startswith("gemma"):
            x = x * np.sqrt(x.shape[1])
        for layer in range(self.keys["block_count"]):
            blk = "blk.%d." % layer
            steps = [("attn_norm", lambda y: self.attention(layer, y), POST_NORMS[0]),
                     ("ffn_norm", lambda y: self.gated(blk, y), POST_NORMS[1])]
            for before, step, after in steps:
                y = step(self.norm(blk + before, x))
                x = x + (self.norm(blk + after, y) if blk + after + ".weight" in self.tensors else y)
        output = "output" if "output.weight" in self.tensors else "token_embd"
        return bounded(self.linear(output, self.norm("output_norm", x)), self.keys.get("final_logit_softcapping"))


def check(path, logits):
    want, got = Model(path).logits(TOKENS), np.load(logits)
    error = np.abs(got - want).max() / np.abs(want).max()
    print("%s: the largest error is %.1e of the largest logit" % (os.path.basename(path), error))
    assert got.shape == want.shape and np.abs(want).max() > 0.5 and error < 1e-4


if __name__ == "__main__":
    if sys.argv[1] == "write":
        np.save(os.path.join(sys.argv[2], "tokens.npy"), TOKENS)
        for name in MODELS:
            write(os.path.join(sys.argv[2], name + ".gguf"), name)
    elif sys.argv[1] == "check":
        check(*sys.argv[2:])
    else:
        np.save(sys.argv[4], Model(sys.argv[2]).logits(np.load(sys.argv[3])))
