#!/usr/bin/env python3
"""What a turn of a search costs with a model in process, and what is outside the model.

    python benchmarks/policy.py --quick     the tiny model only: two minutes
    python benchmarks/policy.py             and one of the real width (Qwen2.5-VL-3B's) with two layers: it needs 12 GB
                                            of memory, 8 GB of disk and a quarter of an hour on two cores
    python benchmarks/policy.py --strict    fail where a target is missed

Models have random weights and say one short answer. Each runtime searches in a process of its own, through the policy
that the node runs, with cache reuse and without. Every call of the network is timed, so the rest of a turn (prompts,
JPEG, preprocessing, tokens, parsing) is what remains. Without a GPU, times of the network say nothing about the real
model; shares and ratios do. Milliseconds, medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.angles import Direction
from hvs_ros.policy.contract import Policy
from hvs_ros.policy.model_policy import ModelPolicy
from hvs_ros.policy.model_settings import ModelSettings
from hvs_ros.policy.qwen.checkpoint import Checkpoint, read_checkpoint
from hvs_ros.policy.qwen.engine import QwenEngine
from hvs_ros.policy.qwen.network import Network
from hvs_ros.policy.qwen.preprocess import decode_picture, preprocess
from hvs_ros.policy.shown import show
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

SIZES = ((1280, 720), (1920, 1080))
SAYS = "<answer>rotate(30,5)</answer>"
LAYERS = 2
MODEL_S = {(1920, 1080): 0.5}
"""What a turn of the real model is estimated to take on an H100 while the window fills (docs/serving.md)."""
OUTSIDE_SHARE = 0.05
PREPROCESSING_SHARE = 0.25
TOLERANCE = 1e-5


@dataclass
class Turn:
    """Seconds of one turn.

    Attributes:
        whole: from the view to the decision.
        see: in the vision tower.
        prefill: in the decoder, until the first token's logits.
        decode: in the decoder, after that.
        prompt: tokens.
        image: tokens of the view.
        said: tokens.
        read: tokens of the prompt that were computed.
        answer: what was said.
    """

    whole: float = 0.0
    see: float = 0.0
    prefill: float = 0.0
    decode: float = 0.0
    prompt: int = 0
    image: int = 0
    said: int = 0
    read: int = 0
    answer: str = ""

    @property
    def outside(self) -> float:
        """What is no network."""
        return self.whole - self.see - self.prefill - self.decode

    @property
    def reading(self) -> float:
        """What reuse can save."""
        return self.see + self.prefill


@dataclass
class Case:
    """One search."""

    runtime: str
    size: tuple[int, int]
    reuse: bool
    memory_gb: float
    turns: list[Turn] = field(default_factory=list)


class Timed:
    """A network that tells how long it took."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.chunk = network.chunk
        self.turn = Turn()
        self._reading = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def begin(self) -> Turn:
        """Begin a turn; what it takes is written into what is returned."""
        self.turn, self._reading = Turn(), True
        return self.turn

    def see(self, *given: Any) -> Any:
        began = time.perf_counter()
        features = self._network.see(*given)
        self.turn.see += time.perf_counter() - began
        return features

    def cut(self, length: int) -> None:
        self._network.cut(length)

    def extend(self, ids: NDArray[np.int64], *given: Any) -> None:
        began = time.perf_counter()
        self._network.extend(ids, *given)
        self._add(began)
        if self._reading:
            self.turn.read += len(ids)

    def logits(self) -> NDArray[np.float32]:
        began = time.perf_counter()
        logits = self._network.logits()
        self._add(began)
        self._reading = False
        return logits

    def _add(self, began: float) -> None:
        took = time.perf_counter() - began
        if self._reading:
            self.turn.prefill += took
        else:
            self.turn.decode += took


class Targets:
    """Prints whether they are met."""

    def __init__(self) -> None:
        self.missed = 0

    def check(self, met: bool, line: str) -> None:
        self.missed += not met
        print(f"  {'met   ' if met else 'MISSED'}  {line}", flush=True)


def main() -> int:
    options = _options()
    if options.search:
        return _search(options)
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}; {options.turns} turns a search")
    targets = Targets()
    with tempfile.TemporaryDirectory(prefix="hvs_policy_", dir=options.folder) as folder:
        tiny = _model(Path(folder) / "tiny", real=False)
        for size in SIZES:
            _parts(tiny, size, options.rounds, targets)
        for size in SIZES:
            _server(size, options, targets)
        _compare("tiny model", tiny, SIZES, options, targets)
        if not options.quick:
            real = _model(Path(folder) / "real", real=True)
            _compare(f"real width, {LAYERS} layers", real, options.real_sizes, options, targets)
    print(f"\n{targets.missed} targets missed" if targets.missed else "\nall targets met")
    return int(targets.missed > 0 and options.strict)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the tiny model only")
    parser.add_argument("--turns", type=int, default=4, help="of a search")
    parser.add_argument("--rounds", type=int, default=9, help="for what is outside the model")
    parser.add_argument("--folder", type=Path, help="for the models; default: the machine's own for temporary files")
    parser.add_argument(
        "--real-size", dest="real_sizes", type=_size, action="append", help="of views for the real width; default: both"
    )
    parser.add_argument("--runtime", action="append", choices=("torch", "onnx"), help="default: both")
    parser.add_argument("--strict", action="store_true", help="fail where a target is missed")
    parser.add_argument("--search", choices=("torch", "onnx"), help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=_size, nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.real_sizes = options.real_sizes or list(SIZES)
    options.runtime = options.runtime or ["torch", "onnx"]
    if options.turns < 2:
        parser.error("--turns: the first turn has nothing to reuse; give 2 or more")
    return options


def _size(text: str) -> tuple[int, int]:
    width, height = (int(part) for part in text.split("x"))
    return width, height


def _model(folder: Path, *, real: bool) -> Path:
    from hvs_ros.mock.tiny_checkpoint import REAL, TINY, write_tiny_checkpoint

    return write_tiny_checkpoint(
        folder, layers=LAYERS, vision_layers=LAYERS, width=REAL if real else TINY, says=SAYS
    )


def _view(size: tuple[int, int], turn: int) -> NDArray[np.uint8]:
    """Return a picture with smooth blobs, edges and a little noise, another for every turn."""
    width, height = size
    rng = np.random.default_rng(turn)
    picture = np.zeros((height, width, 3), np.float32)
    for cells in (8, 64, 256):
        coarse = rng.normal(0, 1, (cells * height // width, cells, 3)).astype(np.float32)
        picture += cv2.resize(coarse, size, interpolation=cv2.INTER_CUBIC) * (140 / cells**0.5)
    picture += rng.normal(128, 3, picture.shape).astype(np.float32)
    finished = np.clip(picture, 0, 255).astype(np.uint8)
    for _ in range(40):
        x, y = int(rng.integers(width)), int(rng.integers(height))
        cv2.rectangle(finished, (x, y), (x + width // 20, y + height // 12), rng.integers(0, 256, 3).tolist(), 2)
    return finished


def _parts(model: Path, size: tuple[int, int], rounds: int, targets: Targets) -> None:
    """Measure preprocessing beside the image processor that it replaces, and JPEG."""
    from transformers import AutoImageProcessor

    theirs = AutoImageProcessor.from_pretrained(model, **_slow())
    form = read_checkpoint(model).pictures
    bgr = _view(size, 1)
    shown = show(bgr)
    rgb = decode_picture(shown)
    times = _in_turns(
        {
            "ours": lambda: preprocess(rgb, form),
            "theirs": lambda: theirs(images=[rgb], return_tensors="np"),
            "encode": lambda: show(bgr),
            "decode": lambda: decode_picture(shown),
        },
        rounds,
    )
    difference = float(
        np.abs(preprocess(rgb, form).values - theirs(images=[rgb], return_tensors="np")["pixel_values"]).max()
    )
    ours, other = 1e3 * times["ours"], 1e3 * times["theirs"]
    encode, decode = 1e3 * times["encode"], 1e3 * times["decode"]
    print(f"\n{_name(size)}: preprocessing {ours:.1f}, {type(theirs).__name__} {other:.1f};", end=" ")
    print(f"JPEG ({len(shown.data) / 1e3:.0f} kB) encode {encode:.1f}, decode {decode:.1f}")
    targets.check(
        ours <= PREPROCESSING_SHARE * other,
        f"preprocessing takes {ours / other:.2f} of theirs; at most {PREPROCESSING_SHARE}",
    )
    targets.check(difference <= TOLERANCE, f"differs from theirs by {difference:.1e}; at most {TOLERANCE:.0e}")
    _check_outside(ours + encode + decode, size, "preprocessing and JPEG", targets)


def _slow() -> dict[str, Any]:
    """Return how the image processor that works with Pillow is asked for."""
    import transformers

    return {"use_fast": False} if int(transformers.__version__.split(".")[0]) < 5 else {"backend": "pil"}


def _in_turns(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the medians of calls that take turns, so that whatever else the machine does hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in times.items()}


def _server(size: tuple[int, int], options: argparse.Namespace, targets: Targets) -> None:
    """Measure turns with a server, in a process of its own, that answers as soon as it has read the request."""
    from hvs_ros.policy.server import ServerPolicy

    turns = 4 + options.rounds
    script = "; ".join(["rotate(30,5)"] * turns)
    command = [sys.executable, "-m", "hvs_ros.mock.model_server", "--port", "0", "--script", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["base_url"]
            policy = ServerPolicy(base_url=url, view_size=_name(size))
            try:
                took = _decisions(policy, size, turns)
            finally:
                policy.close()
        finally:
            server.terminate()
    full, own = (1e3 * statistics.median(values) for values in ([t.wall for t in took[4:]], [t.own for t in took[4:]]))
    print(f"\n{_name(size)}: turn with a mock server, five views {full:.1f}; processor time of this side {own:.1f}")
    # What a server does to read a request is in its latency.
    _check_outside(own, size, "JPEG and HTTP on this side, five views", targets)


def _check_outside(milliseconds: float, size: tuple[int, int], what: str, targets: Targets) -> None:
    model_s = MODEL_S.get(size)
    if model_s is None:
        return
    share = milliseconds / 1e3 / model_s
    targets.check(
        share <= OUTSIDE_SHARE,
        f"{what}: {milliseconds:.1f} ms, {share:.1%} of a turn of {model_s:g} s; at most {OUTSIDE_SHARE:.0%}",
    )


@dataclass(frozen=True)
class Took:
    """Seconds of a turn by the clock, those of this process's processor time, and what was decided."""

    wall: float
    own: float
    decision: Decision


def _decisions(policy: Policy, size: tuple[int, int], turns: int) -> list[Took]:
    """Let a policy search for so many turns."""
    views = [_view(size, turn) for turn in range(1, turns + 1)]  # drawn before, since that takes long
    policy.start(Task("find the exit sign", max_turns=turns))
    took = []
    for turn, image in enumerate(views, 1):
        seen = Observation(image, Direction(30.0 * turn, 0.0), 100.0, turn, turns + 1 - turn)
        wall, own = time.perf_counter(), time.process_time()
        decision = policy.decide(seen)
        took.append(Took(time.perf_counter() - wall, time.process_time() - own, decision))
    return took


def _compare(
    title: str, model: Path, sizes: Sequence[tuple[int, int]], options: argparse.Namespace, targets: Targets
) -> None:
    """Print the searches of both runtimes, and what reuse saves."""
    for runtime in options.runtime:
        folder = model
        if runtime == "onnx":
            from hvs_ros.policy.onnx_model.export import export_model

            folder = model.with_name(f"{model.name}_onnx")
            began = time.perf_counter()
            export_model(model, folder, "fp32")
            print(f"\n{title}: exported to ONNX (fp32) in {time.perf_counter() - began:.0f} s")
        cases = _cases(runtime, folder, sizes, options)
        for kept, fresh in zip(cases[::2], cases[1::2], strict=True):
            _print_cases(title, kept, fresh)
            _check_reuse(kept, fresh, targets)


def _cases(
    runtime: str, model: Path, sizes: Sequence[tuple[int, int]], options: argparse.Namespace
) -> list[Case]:
    command = [sys.executable, __file__, "--search", runtime, "--model", str(model), "--turns", str(options.turns)]
    done = subprocess.run([*command, "--sizes", *map(_name, sizes)], stdout=subprocess.PIPE, text=True, check=True)
    cases = []
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            case = json.loads(line)
            turns = [Turn(**turn) for turn in case.pop("turns")]
            cases.append(Case(case["runtime"], tuple(case["size"]), case["reuse"], case["memory_gb"], turns))
    return cases


def _search(options: argparse.Namespace) -> int:
    """Search in this process, and print each search as a line of JSON."""
    checkpoint = read_checkpoint(options.model)
    network, runtime = (_torch if options.search == "torch" else _onnx)(checkpoint)
    timed = Timed(network)
    for size in options.sizes:
        for reuse in (True, False):
            settings = ModelSettings(max_tokens=64)
            if reuse:  # what is only done once, or once for a size
                _decisions(_Policy(QwenEngine(checkpoint, timed, max_tokens=64), settings, timed), size, 1)
            policy = _Policy(QwenEngine(checkpoint, timed, max_tokens=64, reuse=reuse), settings, timed)
            _reset_peak()
            for took, turn in zip(_decisions(policy, size, options.turns), policy.turns, strict=True):
                usage = took.decision.usage
                turn.whole, turn.answer = took.wall, took.decision.raw
                turn.prompt, turn.said = usage.prompt_tokens or 0, usage.completion_tokens or 0
                turn.image = usage.image_tokens or 0
            print(json.dumps(asdict(Case(runtime, size, reuse, _peak_gb(), policy.turns))), flush=True)
    network.close()
    return 0


class _Policy(ModelPolicy):
    """Begins a turn of the timed network with each decision."""

    def __init__(self, engine: QwenEngine, settings: ModelSettings, timed: Timed) -> None:
        super().__init__(lambda: engine, settings)
        self.turns: list[Turn] = []
        self._timed = timed

    def decide(self, observation: Observation) -> Decision:
        self.turns.append(self._timed.begin())
        return super().decide(observation)


def _torch(checkpoint: Checkpoint) -> tuple[Network, str]:
    from hvs_ros.policy.torch_device import choose_device
    from hvs_ros.policy.torch_model import load_network

    network = load_network(checkpoint, choose_device("auto", "auto", "auto", require_gpu=False))
    described = network.describe()
    return network, f"torch, {described['device']}, {described['precision']}"


def _onnx(checkpoint: Checkpoint) -> tuple[Network, str]:
    import onnxruntime

    from hvs_ros.policy.onnx_model.manifest import read_manifest
    from hvs_ros.policy.onnx_model.network import OnnxNetwork
    from hvs_ros.policy.onnx_model.provider import choose_provider

    exported = read_manifest(checkpoint.folder)
    available = onnxruntime.get_available_providers()
    choice = choose_provider("auto", available, exported.precision, require_gpu=False, version=onnxruntime.__version__)
    network = OnnxNetwork(onnxruntime, checkpoint, exported, choice)
    described = network.describe()
    return network, f"onnx, {described['provider']}, {described['precision']}"


def _print_cases(title: str, kept: Case, fresh: Case) -> None:
    print(f"\n{title}, {kept.runtime}, {_name(kept.size)}: {kept.turns[0].image} image tokens; ", end="")
    print(f"peak of memory {kept.memory_gb:.2f} GB with reuse, {fresh.memory_gb:.2f} GB without")
    head = f"{'whole':>8}{'vision':>8}{'prefill':>8}{'a token':>8}{'outside':>8}"
    print(f"  turn  prompt  reused |{head}  with reuse |{head}  without")
    for number, (with_it, without) in enumerate(zip(kept.turns, fresh.turns, strict=True), 1):
        reused = with_it.prompt - with_it.read
        print(f"  {number:4}{with_it.prompt:8}{reused:8} |{_row(with_it)}{'':12} |{_row(without)}")


def _row(turn: Turn) -> str:
    token = turn.decode / max(1, turn.said)
    return "".join(f"{1e3 * s:8.1f}" for s in (turn.whole, turn.see, turn.prefill, token, turn.outside))


def _check_reuse(kept: Case, fresh: Case, targets: Targets) -> None:
    """The first turn has nothing to reuse."""
    pairs = list(zip(kept.turns[1:], fresh.turns[1:], strict=True))
    covered = 1 - sum(a.read for a, _ in pairs) / sum(a.prompt for a, _ in pairs)
    saved = 1 - sum(a.reading for a, _ in pairs) / sum(b.reading for _, b in pairs)
    targets.check(
        saved >= covered, f"reuse covers {covered:.1%} of the tokens and saves {saved:.1%} of the time to see and read"
    )
    same = all(a.answer == b.answer for a, b in pairs)
    targets.check(same, f"the answers are {'the same' if same else 'others'} with and without")


def _name(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_gb() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e6


if __name__ == "__main__":
    sys.exit(main())
