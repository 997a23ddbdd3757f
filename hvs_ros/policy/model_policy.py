"""The search of a model: the same messages, the same history and the same reading of answers, whatever runs the model.

What is said is a ``Dialogue``'s; here an engine is asked, one search at a time. A model that cannot be reached is no
answer: that ends the search.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from hvs_ros.policy.dialogue import Dialogue, dialogue_facts
from hvs_ros.policy.engine import Canceled, Engine
from hvs_ros.policy.model_settings import ModelSettings, Thought
from hvs_ros.policy.prompt_sets import load_prompts
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation


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
        self._prompts = load_prompts(settings.prompts, Thought(settings.thought))
        self._engine = load()
        self._dialogue = Dialogue(settings, self._prompts, self._engine.describe)
        self._canceled = threading.Event()

    def start(self, task: Task) -> None:
        """Begin a new search and forget the last one.

        Raises:
            PolicyError: the prompts do not cover the task.
        """
        # Each search has its own event: whoever still waits on the last one's is not woken again.
        self._canceled = threading.Event()
        self._dialogue.start(task)

    def decide(self, observation: Observation) -> Decision:
        """Show the model the view and return what it decides.

        Raises:
            PolicyUnavailableError: the model cannot be reached.
            PolicyError: the model cannot go on; or ``start`` was not called.
            Canceled: ``cancel`` was called.
        """
        canceled = self._canceled
        answer = self._engine.answer(self._dialogue.ask(observation), canceled)
        if canceled.is_set():
            raise Canceled("canceled while the model was answering")
        return self._dialogue.answered(answer)

    def cancel(self) -> None:
        """End the answer under way; from any thread."""
        self._canceled.set()

    def close(self) -> None:
        """Release the model."""
        self.cancel()
        self._engine.close()

    def describe(self) -> Mapping[str, str | int | float | bool]:
        """Return what decides, for records and diagnostics: the model and what it is asked with."""
        return {**self._engine.describe(), **dialogue_facts(self._settings, self._prompts)}
