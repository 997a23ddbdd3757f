"""Writes a graph of ``Deferred`` modules as an ONNX file, its weights one by one into a second file beside it."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx_ir
import torch
from torch import nn

from hvs_ros.policy.onnx_model import graphs
from hvs_ros.policy.onnx_model.decoder_graph import DecoderGraph
from hvs_ros.policy.onnx_model.layers import Deferred, Maker, placeholders
from hvs_ros.policy.onnx_model.precision import Precision
from hvs_ros.policy.onnx_model.vision_graph import VisionGraph
from hvs_ros.policy.onnx_model.weights import Weights
from hvs_ros.policy.qwen.checkpoint import DecoderShape, VisionShape

OPSET = 18
"""Runs in every ONNX Runtime since 1.20."""
IR_VERSION = 10
"""As new as ONNX Runtime 1.20 reads."""
DATA = ".data"
"""Added to a graph's name: its weights."""
SMALLEST = 1024
"""Bytes from which on a weight is in the second file."""

Written = Callable[[int, int], None]
"""Told after each weight: bytes written, bytes in all."""


def write_vision(weights: Weights, shape: VisionShape, precision: Precision, path: Path, written: Written) -> None:
    """Write the vision tower.

    Raises:
        CheckpointError: weights are missing or have another shape.
    """
    places = (shape.window // shape.patch) ** 2
    # The numbers of patches and windows are examples; they may be any.
    patches, windows = 48, 3
    with placeholders():
        graph = VisionGraph(weights, shape, torch.float16 if precision.half else torch.float32)
    examples = (
        torch.zeros(patches, 3 * shape.temporal_patch * shape.patch**2),
        torch.zeros(patches, shape.head_width),
        torch.zeros(patches, shape.head_width),
        torch.zeros(windows, places, dtype=torch.int64),
        torch.zeros(windows, places, dtype=torch.bool),
        torch.zeros(patches, dtype=torch.int64),
    )
    free = tuple({0: torch.export.Dim.DYNAMIC} for _ in examples)
    names = Names(graphs.VISION_INPUTS, (graphs.FEATURES,))
    _write_graph(graph, path, examples, free, names, written)


def write_decoder(weights: Weights, shape: DecoderShape, precision: Precision, path: Path, written: Written) -> None:
    """Write the decoder.

    Raises:
        CheckpointError: weights are missing or have another shape.
    """
    dtype = torch.float16 if precision.half else torch.float32
    tokens, room = 7, 11
    with placeholders():
        graph = DecoderGraph(weights, shape, precision)
    past = [torch.zeros(1, shape.kv_heads, room, shape.head_width, dtype=dtype) for _ in range(2 * shape.layers)]
    examples = (
        torch.zeros(1, tokens, shape.hidden, dtype=dtype),
        torch.zeros(tokens, shape.head_width),
        torch.zeros(tokens, shape.head_width),
        torch.zeros(1, dtype=torch.int32),
        torch.zeros((), dtype=torch.int32),
        past,
    )
    any_size = torch.export.Dim.DYNAMIC
    free = ({1: any_size}, {0: any_size}, {0: any_size}, None, None, [{2: any_size} for _ in past])
    names = Names(
        (*graphs.DECODER_INPUTS, *graphs.past_names(shape.layers)),
        (graphs.LOGITS, *graphs.present_names(shape.layers)),
    )
    _write_graph(graph, path, examples, free, names, written)


@dataclass(frozen=True)
class Names:
    """Of a graph.

    Attributes:
        inputs: all of them, lists flattened.
        outputs: all of them.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def _write_graph(
    graph: nn.Module, path: Path, examples: tuple[Any, ...], free: tuple[Any, ...], names: Names, written: Written
) -> None:
    """Trace a graph and write it.

    Args:
        graph: made of ``Deferred`` modules.
        path: of the ONNX file.
        examples: inputs.
        free: which of their dimensions may change, as torch.onnx.export takes it.
        names: of inputs and outputs.
        written: is told how far it is.
    """
    with _quiet():
        program = torch.onnx.export(
            graph.eval(),
            examples,
            dynamo=True,
            opset_version=OPSET,
            input_names=list(names.inputs),
            output_names=list(names.outputs),
            dynamic_shapes=free,
            verbose=False,
            optimize=False,
        )
        if program is None:
            raise RuntimeError("torch.onnx.export returned nothing")
        makers = dict(_makers(graph))
        for name, value in program.model.graph.initializers.items():
            if name in makers:
                value.const_value = _lazy(name, makers[name], value.const_value)
        program.optimize()
    model = program.model
    model.ir_version = IR_VERSION
    done, total = 0, sum(value.const_value.nbytes for value in model.graph.initializers.values() if value.const_value)

    def count(tensor: onnx_ir.TensorProtocol, _info: object) -> None:
        nonlocal done
        done += tensor.nbytes
        written(done, total)

    # One at a time: this is what keeps the memory small.
    onnx_ir.save(
        model, path, external_data=path.name + DATA, size_threshold_bytes=SMALLEST, callback=count, max_workers=1
    )


def _makers(graph: nn.Module) -> Iterator[tuple[str, Maker]]:
    for prefix, module in graph.named_modules():
        if isinstance(module, Deferred):
            for name, make in module.makers.items():
                yield f"{prefix}.{name}", make


def _lazy(name: str, make: Maker, declared: Any) -> onnx_ir.LazyTensor:
    shape, dtype = declared.shape, declared.dtype

    def tensor() -> onnx_ir.TensorProtocol:
        made = make()
        if tuple(made.shape) != tuple(shape) or onnx_ir.DataType.from_numpy(made.dtype) != dtype:
            raise RuntimeError(f"{name} is {made.dtype}{made.shape}, traced as {dtype}{tuple(shape)}")
        return onnx_ir.Tensor(made, name=name)

    return onnx_ir.LazyTensor(tensor, dtype=dtype, shape=shape, name=name)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's remarks on its own working from the terminal; its errors are raised."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
