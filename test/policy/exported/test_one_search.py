"""The same search, whatever runs the model: torch, ONNX Runtime, and a server that serves it."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")
pytest.importorskip("openai")
pytest.importorskip("aiohttp")

from aiohttp import web
from conversation import view
from exported_models import Exported

from hvs_ros.angles import Direction
from hvs_ros.mock.model_requests import Asked
from hvs_ros.mock.model_server import MockModelServer
from hvs_ros.mock.tiny_checkpoint import write_tiny_checkpoint
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.qwen.checkpoint import read_checkpoint
from hvs_ros.policy.qwen.engine import QwenEngine
from hvs_ros.policy.registry import create_policy
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.policy.torch_device import choose_device
from hvs_ros.policy.torch_model import load_network
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import Outcome, SearchResult
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task
from hvs_ros.search.view import Arrival, MoveOutcome, View

pytestmark = pytest.mark.timeout(300)  # an export takes long on a busy machine

TURNS = 8
"""More than fit into the window."""
TOKENS = 16
SIZE = (320, 180)


class Head:
    """A head that turns at once; each view is another one, so that what a model says differs from turn to turn."""

    def __init__(self) -> None:
        self._direction, self._looks = Direction(0, 0), 0

    def look(self) -> View:
        self._looks += 1
        return View(view(self._looks, *SIZE), self._direction, self._looks, 100.0)

    def turn_to(self, goal: Direction) -> Arrival:
        self._direction = goal
        return Arrival(MoveOutcome.REACHED, goal, 1)


class ServedModel(MockModelServer):
    """A server whose answers are a model's own: it is told no more than what is in a request."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(models=(checkpoint.name,))
        found = read_checkpoint(checkpoint)
        self._engine = QwenEngine(found, load_network(found, choose_device("cpu")), max_tokens=TOKENS, reuse=False)

    async def _answer(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        asked.body = await request.json()
        self._model.check(asked)
        answer = self._engine.answer([_message(told) for told in asked.body["messages"]], threading.Event())
        asked.ended, asked.prompt_tokens = "answered", answer.usage.prompt_tokens or 0
        said = {"role": "assistant", "content": answer.text}
        return web.json_response(self._completion(asked, said, answer.finish, answer.usage.completion_tokens or 0))


def _message(told: dict[str, Any]) -> Message:
    content = told["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return Message(told["role"], tuple(part["text"] if part["type"] == "text" else _shown(part) for part in parts))


def _shown(part: dict[str, Any]) -> Shown:
    data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    height, width = image.shape[:2]
    return Shown(data, "image/jpeg", width, height)


@contextmanager
def runtimes(checkpoint: Path, export: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """The policies by name, with the settings with which each runs the model."""
    with ServedModel(checkpoint) as server:
        yield {
            "torch": {"model": str(checkpoint), "device": "cpu", "threads": 1},
            "onnx": {"model": str(export), "provider": "cpu", "threads": 1},
            "server": {"base_url": server.base_url, "view_size": f"{SIZE[0]}x{SIZE[1]}", "timeout": 120.0},
        }


def search(policy: str, settings: dict[str, Any]) -> SearchResult:
    runner = PolicyRunner(lambda: create_policy(policy, {"max_tokens": TOKENS, **settings}))
    try:
        return run_search(Task("find the exit sign", max_turns=TURNS), Head(), runner)
    finally:
        runner.close()


def decided(record: SearchResult) -> list[tuple[Any, ...]]:
    """What a search came to, turn by turn, from the tokens that the model was shown to where the head looked."""
    assert record.outcome is Outcome.TURNS_EXHAUSTED and len(record.turns) == TURNS, record.message
    return [
        (
            turn.decision.usage.prompt_tokens,
            turn.decision.raw,
            turn.decision.status,
            turn.decision.action,
            turn.direction,
        )
        for turn in record.turns
    ]


@pytest.mark.parametrize("window", ["views", "published"])
def test_a_model_that_says_something_else_every_turn(tiny_checkpoint: Path, exported: Exported, window: str) -> None:
    with runtimes(tiny_checkpoint, exported(tiny_checkpoint, "fp32")) as policies:
        searches = {name: decided(search(name, {**own, "window": window})) for name, own in policies.items()}
    assert searches["torch"] == searches["onnx"] == searches["server"]
    assert len({raw for _, raw, *_ in searches["torch"]}) == TURNS, "what it said depends on what it saw"


def test_a_model_that_turns_the_head(tmp_path: Path, exported: Exported) -> None:
    checkpoint = write_tiny_checkpoint(tmp_path / "turning", says="<answer>rotate(30,5)</answer>")
    with runtimes(checkpoint, exported(checkpoint, "fp32")) as policies:
        searches = {name: decided(search(name, own)) for name, own in policies.items()}
    assert searches["torch"] == searches["onnx"] == searches["server"]
    directions = {direction for *_, direction in searches["torch"]}
    assert len(directions) == TURNS
    assert {status for _, _, status, *_ in searches["torch"]} == {ParseStatus.OK}
