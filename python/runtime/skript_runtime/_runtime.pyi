# SPDX-License-Identifier: Apache-2.0
from os import PathLike
from typing import Any, NamedTuple

import numpy
from numpy.typing import ArrayLike, NDArray

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

def load(path: str | PathLike[str], /, *, threads: int = 0, device: str = "auto") -> CompiledModel: ...
