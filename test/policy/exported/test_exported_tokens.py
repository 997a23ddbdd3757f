"""An exported model says what its checkpoint says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")

from conversation import SIZES, converse, view
from exported_models import Exported
from tiny_models import SAYS

from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Canceled, Engine
from hvs_ros.policy.model_settings import ModelSettings
from hvs_ros.policy.onnx_model import network
from hvs_ros.policy.onnx_model.kv_cache import KvCache
from hvs_ros.policy.onnx_model.manifest import read_manifest
from hvs_ros.policy.onnx_model.needs import export_needs
from hvs_ros.policy.onnx_model.network import OnnxNetwork
from hvs_ros.policy.onnx_model.precision import Precision
from hvs_ros.policy.onnx_policy import load_engine
from hvs_ros.policy.qwen.checkpoint import read_checkpoint
from hvs_ros.policy.qwen.engine import QwenEngine
from hvs_ros.policy.shown import show
from hvs_ros.policy.torch_device import choose_device
from hvs_ros.policy.torch_model import load_network

pytestmark = pytest.mark.timeout(300)  # an export takes long on a busy machine

TOKENS = 24


@contextmanager
def running(folder: Path, *, reuse: bool = True) -> Iterator[QwenEngine]:
    engine = load_engine(str(folder), ModelSettings(max_tokens=TOKENS), provider="cpu", threads=1, reuse=reuse)
    try:
        yield engine
    finally:
        engine.close()


def original(checkpoint: Path) -> Engine:
    found = read_checkpoint(checkpoint)
    return QwenEngine(found, load_network(found, choose_device("cpu")), max_tokens=TOKENS, reuse=False)


def test_the_tokens_are_those_of_torch(tiny_checkpoint: Path, exported: Exported) -> None:
    folder = exported(tiny_checkpoint, "fp32")
    with running(folder) as reusing, running(folder, reuse=False) as afresh:
        turns = converse(original(tiny_checkpoint), [reusing, afresh])
    for theirs, ours, fresh in turns:
        assert ours.text == theirs.text and fresh.text == theirs.text
        assert ours.usage == theirs.usage == fresh.usage
    # What they say depends on what they see, so that being alike means something.
    assert len({theirs.text for theirs, *_ in turns}) == len(turns)
    for number, (_, ours, fresh) in enumerate(turns):
        assert fresh.detail.split(", ", 2)[2].startswith("0 of")
        reused = int(ours.detail.split(", ", 2)[2].split()[0])
        prompt = ours.usage.prompt_tokens or 0
        if 0 < number < 5:  # everything before this turn's message
            assert reused > 0.8 * ((turns[number - 1][1].usage.prompt_tokens or 0) + TOKENS)
        else:  # the window has slid: the system's message only
            assert reused < 30 < prompt
        assert f"1 of {min(number + 1, 5)} pictures newly seen" in ours.detail


@pytest.mark.parametrize("precision", ["fp16", "int8"])  # int4: test_onnx_policy.py
def test_other_precisions(speaking_checkpoint: Path, exported: Exported, precision: str) -> None:
    with running(exported(speaking_checkpoint, precision)) as engine:
        assert engine.describe()["precision"] == precision
        for (answer,) in converse(engine, sizes=SIZES[2:5]):
            assert (answer.text, answer.finish) == (SAYS, "stop")


def test_canceled_it_goes_on_as_if_nothing_had_been(tiny_checkpoint: Path, exported: Exported) -> None:
    folder = exported(tiny_checkpoint, "fp32")
    messages = [Message("user", (show(view(0, 320, 180)), "find it"))]
    canceled = threading.Event()
    with running(folder) as engine:
        expected = engine.answer(messages, threading.Event())

        def cancel_in(place: str) -> None:
            canceled.clear()
            runs = engine._network
            whole: Callable[..., object] = getattr(runs, place)

            def half(*given: object) -> object:
                canceled.set()
                return whole(*given)

            setattr(runs, place, half)
            try:
                other = [Message("user", (show(view(1, 320, 180)), "find it"))]
                with pytest.raises(Canceled):
                    engine.answer(other, canceled)
            finally:
                setattr(runs, place, whole)

        for place in ("see", "extend", "logits"):
            cancel_in(place)
            assert engine.answer(messages, threading.Event()).text == expected.text


def test_it_needed_no_more_than_it_said(tiny_checkpoint: Path, exported: Exported) -> None:
    folder = exported(tiny_checkpoint, "fp32")
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert size < export_needs(read_checkpoint(tiny_checkpoint), Precision.FP32).disk
    manifest = read_manifest(folder)
    assert manifest.model == "tiny" and set(manifest.packages) >= {"torch", "onnx", "onnxscript"}


def test_a_gpu_that_cannot_compute_is_found_when_the_model_is_loaded(
    tiny_checkpoint: Path, exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = exported(tiny_checkpoint, "fp32")
    monkeypatch.setattr(OnnxNetwork, "_on_gpu", property(lambda _: True))
    monkeypatch.setattr(
        network, "KvCache", lambda runtime, shape, dtype, _device: KvCache(runtime, shape, dtype, "cpu")
    )
    with running(folder) as engine:  # it can
        assert engine.answer([Message("user", ("find it",))], threading.Event()).text

    def no_kernel(*_: object) -> None:
        raise PolicyError("onnxruntime cannot run the model: no kernel image is available for execution on the device")

    monkeypatch.setattr(OnnxNetwork, "extend", no_kernel)
    with pytest.raises(PolicyUnavailableError, match=r"cannot compute .*no kernel image.* built for this GPU"):
        load_engine(str(folder), ModelSettings(), provider="cpu")
