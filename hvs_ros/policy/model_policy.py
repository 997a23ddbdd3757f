"""The search of a model: the same messages, the same history and the same reading of answers, whatever runs the model.

Each turn shows the picture, with what came of the last answer and the instruction; the model answers with a thought and
an action. An answer that holds no valid action uses up its turn, and the next message says so. A model that cannot be
reached is no answer: that ends the search.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer, Canceled, Engine
from hvs_ros.policy.history import History
from hvs_ros.policy.model_settings import ModelSettings, ParserMode, Thought, Window
from hvs_ros.policy.parse import parse
from hvs_ros.policy.prompt import Around, LastTurn
from hvs_ros.policy.prompt_sets import load_prompts
from hvs_ros.policy.shown import described, show
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

DIGEST_SHOWN = 16
"""So many characters of a hash tell two files apart in a record."""


class ModelPolicy:
    """Lets a model search.

    Args:
        load: makes what runs the model; called last of all, because it may take minutes.
        settings: what all models have in common.

    Raises:
        PolicyError: the prompts cannot be used, or what ``load`` raises.
    """

    def __init__(self, load: Callable[[], Engine], settings: ModelSettings) -> None:
        self._settings = settings
        self._thought, self._mode = Thought(settings.thought), ParserMode(settings.parser)
        self._prompts = load_prompts(settings.prompts, self._thought)
        self._engine = load()
        self._task: Task | None = None
        self._history = History(Message("system", ("",)))
        self._extracted: str | None = None
        self._canceled = threading.Event()

    def start(self, task: Task) -> None:
        """Begin a new search and forget the last one.

        Raises:
            PolicyError: the prompts do not cover the task.
        """
        p = self._settings
        system = Message("system", (self._prompts.system(task),))
        # Each search has its own event: whoever still waits on the last one's is not woken again.
        self._canceled = threading.Event()
        self._task, self._extracted = task, None
        self._history = History(system, views=p.views, drop=p.drop, window=Window(p.window))

    def decide(self, observation: Observation) -> Decision:
        """Show the model the view and return what it decides.

        Raises:
            PolicyUnavailableError: the model cannot be reached.
            PolicyError: the model cannot go on; or ``start`` was not called.
            Canceled: ``cancel`` was called.
        """
        canceled = self._canceled
        self._ask(observation)
        answer = self._engine.answer(self._history.messages(), canceled)
        if canceled.is_set():
            raise Canceled("canceled while the model was answering")
        self._history.answered(answer.text)
        parsed = parse(
            answer.text, truncated=answer.finish == "length", mode=self._mode, thought=self._thought
        )
        self._extracted = parsed.extracted
        return Decision(
            parsed.action,
            thought=parsed.thought,
            raw=answer.text,
            status=parsed.status,
            usage=answer.usage,
            made=self._made(answer),
        )

    def cancel(self) -> None:
        """End the answer under way; from any thread."""
        self._canceled.set()

    def close(self) -> None:
        """Release the model."""
        self.cancel()
        self._engine.close()

    def describe(self) -> Mapping[str, str | int | float | bool]:
        """Return what decides, for records and diagnostics: the model and what it is asked with."""
        p = self._settings
        return {
            **self._engine.describe(),
            "prompts": self._prompts.name,
            "prompts_sha256": self._prompts.digest,
            **({"prompts_notes": self._prompts.notes} if self._prompts.notes else {}),
            "thought": p.thought,
            "window": p.window,
            "views": p.views,
            "drop": p.drop,
            "parser": p.parser,
            "picture": described(p.image_format, p.jpeg_quality),
        }

    def _ask(self, observation: Observation) -> None:
        if self._task is None:
            raise PolicyError("a search was not started")
        shown = show(observation.image, self._settings.image_format, self._settings.jpeg_quality)

        def message(around: Around) -> Message:
            # A text of nothing but white space is left out, as the published runner does.
            before, after = around
            return Message("user", (*([before] if before.strip() else ()), shown, *([after] if after.strip() else ())))

        if self._extracted is None:
            self._history.ask(message(self._prompts.first(self._task, observation)))
            return
        last = LastTurn.of(self._extracted, observation)
        resumed = self._prompts.resumed(self._task, observation)
        self._history.ask(
            message(self._prompts.later(self._task, observation, last)),
            None if resumed is None else message(resumed),
        )

    def _made(self, answer: Answer) -> str:
        """Return what a record of the turn needs to know beside picture and answer."""
        p, prompts = self._settings, self._prompts
        window = f"{p.window} {p.views}" + (f" drop {p.drop}" if p.drop > 1 else "")
        parts = (
            described(p.image_format, p.jpeg_quality),
            f"prompts {prompts.name} {prompts.digest[:DIGEST_SHOWN]}",
            prompts.notes,
            f"thought {p.thought}",
            f"window {window}",
            f"parser {p.parser}",
            *(f"{name} {value}" for name, value in self._engine.describe().items()),
            f"finish {answer.finish}",
            answer.detail,
        )
        return ", ".join(part for part in parts if part)
