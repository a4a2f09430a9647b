# SPDX-License-Identifier: Apache-2.0
import builtins
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Protocol, overload

import numpy
from numpy.typing import ArrayLike, NDArray

from .graph import Graph

__version__: str

class Error(Exception):
    code: str | None
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    span: tuple[int, int, int, int] | None
    notes: list[str]
    help: str | None
    diagnostics: list[Diagnostic]

class Diagnostic:
    code: str | None
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    span: tuple[int, int, int, int] | None
    notes: list[str]
    help: str | None
    rendered: str

class Port:
    name: str
    aliases: list[str]
    dtype: numpy.dtype[Any]
    shape: tuple[int | None, ...]
    dimensions: tuple[str | None, ...]
    bounds: tuple[int, ...]
    pack: int | None

class Bench(NamedTuple):
    best: float
    median: float
    mean: float
    calls: int

class DeviceArray:
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    device: str
    def numpy(self) -> NDArray[Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class CompiledModel:
    name: str
    inputs: list[Port]
    outputs: list[Port]
    target: str
    device: str
    threads: int
    memory: int
    timeout: float | None
    variables: dict[str, NDArray[Any]]
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def set_variable(self, name: str, value: ArrayLike, /) -> None: ...
    def reset(self) -> None: ...
    def upload(self, array: ArrayLike, /) -> DeviceArray: ...
    def copy(self, *, threads: int | None = None) -> CompiledModel: ...
    def save(self, path: str | PathLike[str], /, *, weights: bool = True) -> None: ...
    def bench(self, *args: Any, seconds: float = 1.0, **kwargs: Any) -> Bench: ...

class Program:
    name: str
    def __call__(self, *args: Any) -> Any: ...
    def compile(self, *shapes: Sequence[int]) -> CompiledModel: ...

class Model:
    name: str
    inputs: list[Port]
    outputs: list[Port]
    variables: list[Port]
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def evaluate(self, *args: Any, **kwargs: Any) -> Any: ...
    def compile(
        self,
        *,
        target: str = "host",
        features: str = "",
        fast_math: Literal["none", "default", "winograd"] = "default",
        quantize: Literal["simulate", "integer"] | None = None,
        threads: int | None = None,
        cache: bool | None = None,
        shapes: dict[str, Any] | None = None,
    ) -> CompiledModel: ...
    def to(self, device: str, /, *, precision: Literal["f32", "tf32", "f16", "bf16"] = "f32") -> CompiledModel: ...
    def save(
        self, path: str | PathLike[str], /, *, weights: bool = True, shapes: dict[str, Any] | None = None
    ) -> None: ...
    def bench(self, *args: Any, seconds: float = 1.0, **kwargs: Any) -> Bench: ...
    def check(self) -> list[Diagnostic]: ...
    def to_stablehlo(self) -> str: ...
    def to_mlir(self) -> str: ...
    def to_html(self, *, weights: bool = True) -> str: ...
    def graph(self) -> Graph: ...
    def _repr_html_(self) -> str: ...

class Operator:
    name: str
    module: str
    signature: str
    summary: str
    text: str
    examples: list[str]

class _ModelProto(Protocol):
    """An onnx.ModelProto."""

    def SerializeToString(self) -> bytes: ...

class Generation:
    tokens: list[int]
    ending: Literal["end", "stop", "length", "context"] | None
    def __iter__(self) -> Generation: ...
    def __next__(self) -> str: ...

class LanguageModel:
    context: int
    def __init__(
        self,
        path: str | PathLike[str],
        /,
        *,
        context: int | None = None,
        activations: Literal["real", "int8"] = "real",
        threads: int = 0,
        cache: bool = True,
    ) -> None: ...
    def encode(self, text: str) -> list[int]: ...
    @overload
    def generate(
        self,
        prompt: str | Sequence[dict[str, str]],
        /,
        *,
        max_tokens: int | None = None,
        temperature: float = 0.8,
        top_k: int = 40,
        top_p: float = 0.95,
        min_p: float = 0.05,
        repetition_penalty: float = 1.0,
        seed: int = 0,
        stop: Sequence[str] = ...,
    ) -> Generation: ...
    @overload
    def generate(
        self,
        prompt: Sequence[str] | Sequence[Sequence[dict[str, str]]],
        /,
        *,
        callback: Callable[[int, str], object] | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.8,
        top_k: int = 40,
        top_p: float = 0.95,
        min_p: float = 0.05,
        repetition_penalty: float = 1.0,
        seed: int = 0,
        stop: Sequence[str] = ...,
    ) -> list[Generation]: ...

# A path without other options may name a compiled model or a StableHLO program, whose only option is `threads`.
@overload
def load(path: str | PathLike[str], /, *, threads: builtins.int = 0) -> Model | CompiledModel: ...
@overload
def load(
    path: str | PathLike[str] | bytes | bytearray | _ModelProto,
    /,
    *,
    graph: str | None = None,
    attributes: dict[str, Any] | None = None,
    shapes: dict[str, Any] | None = None,
    bounds: dict[str, builtins.int] | None = None,
    constants: dict[str, ArrayLike] | None = None,
    structure: bool = False,
    trainable: bool = False,
    real: Literal["f16", "bf16", "f32", "f64"] | None = None,
    int: Literal["i8", "i16", "i32", "i64"] | None = None,
    given: Sequence[str] = ...,
    absent: Sequence[str] = ...,
    quantize: Literal["simulate", "integer"] | None = None,
    weights: str | PathLike[str] | dict[str, Any] | None = None,
    threads: builtins.int = 0,
    cache: bool = True,
    specialize: bool = False,
) -> Model: ...
def from_text(
    text: str,
    /,
    *,
    name: str = "text.sknd",
    graph: str | None = None,
    attributes: dict[str, Any] | None = None,
    shapes: dict[str, Any] | None = None,
    real: Literal["f16", "bf16", "f32", "f64"] | None = None,
    int: Literal["i8", "i16", "i32", "i64"] | None = None,
    given: Sequence[str] = ...,
    absent: Sequence[str] = ...,
    quantize: Literal["simulate", "integer"] | None = None,
    weights: str | PathLike[str] | dict[str, Any] | None = None,
    threads: builtins.int = 0,
    cache: bool = True,
    specialize: bool = False,
) -> Model: ...
def grad(
    model: Model, wrt: Sequence[str], *, of: str | Sequence[str] | None = None, forward: bool = False
) -> Model: ...
def training_step(
    model: Model,
    optimizer: str,
    *,
    of: str | None = None,
    wrt: Sequence[str] = ["variables"],
    schedule: str | None = None,
    clip_norm: float | None = None,
    clip_value: float | None = None,
) -> Model: ...
def operators() -> list[Operator]: ...
