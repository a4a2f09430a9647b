# SPDX-License-Identifier: Apache-2.0
"""Models in SkriptND, ONNX and StableHLO: checked, compiled, and called with numpy arrays.

    >>> import skript
    >>> model = skript.load("model.onnx")       # a folder, .sknd, .onnx, .mlir or .skm
    >>> model.inputs, model.outputs
    >>> y = model(x)                            # compiled for this processor by the first call
    >>> fast = model.compile(target="x86-64-v3", threads=2)
    >>> there = model.to("cuda")                # or "vulkan", "auto": uses arrays on the GPU in place
    >>> fast.save("model.skm")                  # skript.load and the package skript-runtime read it
    >>> print(skript.operators["nn.conv"])      # the documentation of an operator

Errors of models raise `skript.Error`, whose text contains lines of the document; wrong arguments raise TypeError and ValueError.
"""
from ._skript import (
    CompiledModel,
    DeviceArray,
    Diagnostic,
    Error,
    Generation,
    LanguageModel,
    Model,
    Operator,
    Port,
    Program,
    __version__,
    from_text,
    grad,
    load,
    training_step,
)
from .library import Operators

operators = Operators()

__all__ = [
    "CompiledModel",
    "DeviceArray",
    "Diagnostic",
    "Error",
    "Generation",
    "LanguageModel",
    "Model",
    "Operator",
    "Operators",
    "Port",
    "Program",
    "__version__",
    "from_text",
    "from_torch",
    "generate",
    "grad",
    "jax_callable",
    "load",
    "operators",
    "training_step",
]


def generate(model, prompt, *, context=None, threads=0, cache=True, **options):
    """Generates a text with the language model of a GGUF file; returns an iterator of its parts, or a list of iterators for a list
    of prompts.

    Parameters
    ----------
    model
        a .gguf file, or a LanguageModel, which keeps compiled code and the cache of the last text
    prompt
        a text that the model continues, or a list of messages, dicts with 'role' and 'content', that the chat template of the
        file writes as one; or a list of such prompts, whose texts are computed in any order, each with a separate cache
    callback
        for a list of prompts: a function that receives the number of a prompt and a part of its text; all texts are computed, a
        part of each in turn
    context, threads, cache
        the options of LanguageModel, for a file
    max_tokens
        the maximum number of tokens; by default, the text ends when the context is full
    temperature
        the divisor of the logits; 0 selects the most probable token
    top_k, top_p, min_p
        which tokens are considered: the `top_k` most probable ones (0 for all), of these the most probable ones whose
        probabilities add up to `top_p`, and of these the ones at least `min_p` times as probable as the most probable one
    repetition_penalty
        the divisor of positive logits, and the factor of negative ones, of the last 64 tokens
    seed
        equal seeds result in equal texts
    stop
        strings before which the text ends

    Examples
    --------
    >>> "".join(skript.generate("model.gguf", "Once upon a time", max_tokens=50))
    """
    if not isinstance(model, LanguageModel):
        model = LanguageModel(model, context=context, threads=threads, cache=cache)
    elif context is not None or threads != 0 or cache is not True:
        raise ValueError("context, threads and cache are options of LanguageModel, and the model is one")
    return model.generate(prompt, **options)


def jax_callable(model):
    """A JAX function that calls the compiled model, also inside `jax.jit`; `skript.jax` has the details."""
    from .jax import jax_callable as wrapped

    return wrapped(model)


def from_torch(module, args=(), kwargs=None, dynamic_shapes=None, **options):
    """Converts a torch.nn.Module to a Model, by an example call; `skript.torch.from_torch` has the details."""
    return _torch().from_torch(module, args, kwargs, dynamic_shapes, **options)


def _torch():
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise ImportError("skript.from_torch and skript.TorchModule need the package torch: pip install torch")
    from . import torch

    return torch


def __getattr__(name):
    if name == "TorchModule":
        return _torch().TorchModule
    raise AttributeError("module 'skript' has no attribute %r" % name)
