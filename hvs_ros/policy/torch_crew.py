"""Many searches share one model in this process: their prompts are answered in batches (``TorchBatchEngine``)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.dialogue import Dialogue, dialogue_facts
from hvs_ros.policy.engine import Answer
from hvs_ros.policy.model_searcher import ModelSearcher
from hvs_ros.policy.model_settings import ModelSettings, Thought
from hvs_ros.policy.prompt_sets import load_prompts
from hvs_ros.policy.qwen.preprocess import Pixels
from hvs_ros.policy.torch_batch_engine import TorchBatchEngine
from hvs_ros.policy.torch_batch_question import Conversation, Question
from hvs_ros.policy.torch_settings import TorchSettings

SIZE = 8
"""Searches at the same time, unless it is said: their keys and values take 5 GB with views of 1920x1080."""


class TorchCrew:
    """Searchers that share a model (see ``hvs_ros.policy.crew.Crew``).

    Args:
        own: which model, and where it runs.
        settings: what all models have in common.
        size: how many searchers there may be.

    Raises:
        PolicyError: a setting that cannot be.
    """

    def __init__(self, own: TorchSettings, settings: ModelSettings, size: int = SIZE) -> None:
        if size < 1:
            raise PolicyError(f"{size} searches at the same time cannot be; give 1 or more")
        self.size = size
        self._own, self._settings = own, settings
        self._prompts = load_prompts(settings.prompts, Thought(settings.thought))
        self._engine: TorchBatchEngine | None = None
        self._out = 0

    async def open(self) -> None:
        """Load the model.

        Raises:
            PolicyError: a setting that cannot be, or a model that is no Qwen2.5-VL.
            PolicyUnavailableError: a package, the model or the GPU is not there.
        """
        self._engine = await asyncio.to_thread(self._load)

    def searcher(self) -> ModelSearcher:
        """Return a searcher that nobody else has.

        Raises:
            RuntimeError: all ``size`` of them are out, or ``open`` was not awaited.
        """
        if self._out == self.size:
            raise RuntimeError(f"all {self.size} searchers of this crew are out")
        engine = self._opened()
        self._out += 1
        return ModelSearcher(Dialogue(self._settings, self._prompts, engine.describe), _TorchLine(engine))

    def describe(self) -> Mapping[str, str]:
        """Return the model, what runs it, and what it is asked with."""
        facts = {**self._opened().describe(), **dialogue_facts(self._settings, self._prompts)}
        return {name: str(value) for name, value in facts.items()}

    async def close(self) -> None:
        """Release the model."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await asyncio.to_thread(engine.close)

    def _load(self) -> TorchBatchEngine:
        checkpoint, network = self._own.load()
        return TorchBatchEngine(
            checkpoint,
            network,
            size=self.size,
            max_tokens=self._settings.max_tokens,
            temperature=self._settings.temperature,
            stop=self._settings.stops,
            reuse=self._own.reuse,
        )

    def _opened(self) -> TorchBatchEngine:
        if self._engine is None:
            raise RuntimeError("the crew is not open")
        return self._engine


class _TorchLine:
    """A search's way to the model (see ``hvs_ros.policy.model_searcher.Line``)."""

    def __init__(self, engine: TorchBatchEngine) -> None:
        self._engine = engine
        self._conversation: Conversation = engine.conversation()
        self._pixels: dict[str, Pixels] = {}

    def begin(self) -> None:
        self._conversation = self._engine.conversation()
        self._pixels = {}

    def prepare(self, shown: Shown) -> None:
        self._pixels = {shown.key: self._engine.pixels(shown)}

    async def answer(self, messages: Sequence[Message]) -> Answer:
        question = Question(self._conversation, messages, self._pixels)
        self._pixels = {}
        self._engine.ask(question)
        try:
            return await asyncio.wrap_future(question.answer)
        finally:
            question.cancel()
