"""Qwen2.5-VL's network computed by ONNX Runtime: numpy, onnxruntime and nothing of torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.engine import Description
from hvs_ros.policy.onnx_model import graphs, manifest
from hvs_ros.policy.onnx_model.interrupt import Interrupter
from hvs_ros.policy.onnx_model.kv_cache import KvCache
from hvs_ros.policy.onnx_model.manifest import Manifest
from hvs_ros.policy.onnx_model.provider import INSTALL, NAMES, Choice, Provider, open_session
from hvs_ros.policy.onnx_model.rotary import DecoderRotation
from hvs_ros.policy.qwen.checkpoint import Checkpoint
from hvs_ros.policy.qwen.network import SeenPiece
from hvs_ros.policy.qwen.preprocess import Pixels, preprocess
from hvs_ros.policy.qwen.vision_layout import vision_layout, vision_rotation

CHUNK_CPU = 256
CHUNK_GPU = 1024
"""Tokens of a prompt read at once: what is computed in between needs memory for each of them."""


class OnnxNetwork:
    """A network (see ``hvs_ros.policy.qwen.network``).

    Args:
        runtime: the module onnxruntime.
        checkpoint: of the exported folder.
        exported: what the folder says of itself.
        choice: what to run it on.
        threads: of the processor; 0: as many as ONNX Runtime likes.

    Attributes:
        chunk: at most so many tokens are given to ``extend`` at once.

    Raises:
        PolicyError: a graph cannot be loaded.
        PolicyUnavailableError: the provider cannot be used here.
    """

    def __init__(
        self, runtime: Any, checkpoint: Checkpoint, exported: Manifest, choice: Choice, threads: int = 0
    ) -> None:
        self._runtime, self._checkpoint, self._exported = runtime, checkpoint, exported
        folder = checkpoint.folder
        self._vision, vision_on = open_session(runtime, folder / manifest.VISION, choice, threads)
        self._decoder, self._provider = open_session(runtime, folder / manifest.DECODER, choice, threads)
        if vision_on is not self._provider:
            raise PolicyError(f"the vision tower got {vision_on.value}, the decoder {self._provider.value}")
        self._embeddings = _table(folder / manifest.EMBEDDINGS, checkpoint)
        self._rotation = DecoderRotation(checkpoint.decoder)
        self._interrupter = Interrupter(runtime)
        dtype = np.float16 if exported.precision.half else np.float32
        self._cache = KvCache(runtime, checkpoint.decoder, dtype, "cuda" if self._on_gpu else "cpu")
        self._binding: Any = self._decoder.io_binding()
        room = np.zeros((1, checkpoint.decoder.vocabulary), np.float32)
        self._said = runtime.OrtValue.ortvalue_from_numpy(room, "cpu", 0)
        self._logits: NDArray[np.float32] | None = None
        self.chunk = CHUNK_GPU if self._on_gpu else CHUNK_CPU
        if self._on_gpu:
            self._try_out()

    @property
    def _on_gpu(self) -> bool:
        return self._provider is not Provider.CPU

    def describe(self) -> Description:
        """Return the runtime, the provider and the precision."""
        return {
            "runtime": f"onnxruntime {self._runtime.__version__}",
            "provider": f"{self._provider.value} ({NAMES[self._provider]})",
            "precision": self._exported.precision.value,
            "source_sha256": self._exported.source_sha256[:16],
        }

    def see(self, pixels: Pixels, stopped: Callable[[], bool]) -> NDArray[np.generic]:
        """Return what the vision tower makes of a picture, shape (tokens, width)."""
        vision = self._checkpoint.vision
        layout = vision_layout(pixels.size, vision)
        cosines, sines = vision_rotation(layout, vision)
        given = (pixels.values, cosines, sines, layout.slots, layout.filled, layout.back)
        feed = dict(zip(graphs.VISION_INPUTS, given, strict=True))
        with self._interrupter.watching(stopped) as options:
            features: NDArray[np.generic] = self._run(
                lambda: self._vision.run([graphs.FEATURES], feed, options)[0], options
            )
        return features

    def cut(self, length: int) -> None:
        """Forget all tokens but the first ones."""
        self._logits = None
        self._cache.length = length

    def extend(
        self,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        pieces: Sequence[SeenPiece],
        stopped: Callable[[], bool],
    ) -> None:
        """Add tokens to the sequence."""
        embedded = self._embeddings[ids]
        for piece in pieces:
            embedded[piece.place : piece.place + piece.count] = piece.features[piece.first : piece.first + piece.count]
        total = self._cache.length + len(ids)
        self._make_room(total)
        cosines, sines = self._rotation(positions)
        counts = np.array([total - 1], np.int32), np.array(total, np.int32)
        given = (np.ascontiguousarray(embedded)[None], cosines, sines, *counts)
        for name, values in zip(graphs.DECODER_INPUTS, given, strict=True):
            self._binding.bind_cpu_input(name, values)
        with self._interrupter.watching(stopped) as options:
            self._run(lambda: self._decoder.run_with_iobinding(self._binding, options), options)
        self._cache.length = total
        self._logits = self._said.numpy()[0]

    def logits(self) -> NDArray[np.float32]:
        """Return the logits of what follows the last token, float32, shape (vocabulary,).

        Raises:
            PolicyError: they are no numbers.
        """
        if self._logits is None:
            raise RuntimeError("no token was added")
        if not np.isfinite(self._logits).all():
            raise PolicyError(
                f"the model computes numbers that are none ({self._exported.precision.value}): it overflows in this "
                "precision; see `hvs model verify`"
            )
        return self._logits

    def close(self) -> None:
        """Release the memory."""
        if self._binding is None:
            return
        self._interrupter.close()
        self._cache.forget()
        self._binding = self._logits = self._vision = self._decoder = None

    def _try_out(self) -> None:
        """Compute a little: that a provider is there does not say that its kernels are built for this GPU.

        Raises:
            PolicyUnavailableError: they are not.
        """
        form = self._checkpoint.pictures
        try:
            self.see(preprocess(np.zeros((form.unit, form.unit, 3), np.uint8), form), lambda: False)
            self.extend(np.zeros(1, np.int64), np.zeros((3, 1), np.int64), (), lambda: False)
        except PolicyError as error:
            self.close()
            raise PolicyUnavailableError(
                f"{NAMES[self._provider]} starts and cannot compute ({error}): is this onnxruntime built for this GPU? "
                f"{INSTALL}"
            ) from error
        self.cut(0)

    def _make_room(self, length: int) -> None:
        try:
            changed = self._cache.make_room(length)
        except Exception as error:  # MemoryError, or onnxruntime's own
            self._cache.forget()
            need = length * self._cache.bytes_a_token / 1e9
            raise PolicyError(
                f"there is no memory for {length} tokens ({need:.2f} GB): give fewer views or smaller pictures "
                f"({error})"
            ) from error
        if not changed:
            return
        layers = self._checkpoint.decoder.layers
        self._binding = self._decoder.io_binding()
        self._binding.bind_ortvalue_output(graphs.LOGITS, self._said)
        names = zip(graphs.past_names(layers), graphs.present_names(layers), self._cache.buffers, strict=True)
        for past, present, buffer in names:
            self._binding.bind_ortvalue_input(past, buffer)
            self._binding.bind_ortvalue_output(present, buffer)

    def _run(self, run: Callable[[], Any], options: Any) -> Any:
        try:
            return run()
        except Exception as error:  # of onnxruntime's own kinds
            if options.terminate:
                raise
            line = str(error).strip().splitlines()[0]
            hint = "; give fewer views or smaller pictures" if "alloc" in line.lower() else ""
            raise PolicyError(f"onnxruntime cannot run the model: {line}{hint}") from error


def _table(path: Path, checkpoint: Checkpoint) -> NDArray[np.generic]:
    try:
        # Rows are read from the disk when they are needed, and stay in the memory as long as there is some to spare.
        table: NDArray[np.generic] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise PolicyError(f"{path} cannot be read: {error}") from error
    expected = (checkpoint.decoder.vocabulary, checkpoint.decoder.hidden)
    if table.shape != expected:
        raise PolicyError(f"{path} has the shape {table.shape}, config.json says {expected}; export the model again")
    return table
