"""What is said between one search and a model, whatever runs the model and however many searches it serves.

Each turn shows the picture, with what came of the last answer and the instruction; the model answers with a thought and
an action. An answer that holds no valid action uses up its turn, and the next message says so. Nothing here waits: who
has the model asks it in between, in a thread (``ModelPolicy``) or awaiting it (``ModelSearcher``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.engine import Answer, Description
from hvs_ros.policy.history import History
from hvs_ros.policy.model_settings import ModelSettings, ParserMode, Thought, Window
from hvs_ros.policy.parse import parse
from hvs_ros.policy.prompt import Around, LastTurn, Prompts
from hvs_ros.policy.shown import described, show
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation, Picture

DIGEST_SHOWN = 16
"""So many characters of a hash tell two files apart in a record."""


class Dialogue:
    """The messages of one search at a time, and what is made of the answers.

    Args:
        settings: what all models have in common.
        prompts: the words; they may be shared by many dialogues.
        runtime: tells what runs the model, for the records of turns.
    """

    def __init__(self, settings: ModelSettings, prompts: Prompts, runtime: Callable[[], Description]) -> None:
        self._settings, self._prompts, self._runtime = settings, prompts, runtime
        self._thought, self._mode = Thought(settings.thought), ParserMode(settings.parser)
        self._task: Task | None = None
        self._history = History(Message("system", ("",)))
        self._extracted: str | None = None

    def start(self, task: Task) -> None:
        """Begin a new search and forget the last one.

        Raises:
            PolicyError: the prompts do not cover the task.
        """
        p = self._settings
        system = Message("system", (self._prompts.system(task),))
        self._task, self._extracted = task, None
        self._history = History(system, views=p.views, drop=p.drop, window=Window(p.window))

    def encode(self, picture: Picture) -> Shown:
        """Return a view, BGR uint8 (height, width, 3), as the model is shown it; from any thread, at any time."""
        return show(picture, self._settings.image_format, self._settings.jpeg_quality)

    def ask(self, observation: Observation, shown: Shown | None = None) -> tuple[Message, ...]:
        """Return what to ask the model.

        Args:
            observation: of the turn that begins.
            shown: its picture as ``encode`` returns it; None: it is encoded now.

        Raises:
            PolicyError: ``start`` was not called.
        """
        if self._task is None:
            raise PolicyError("a search was not started")
        picture = self.encode(observation.image) if shown is None else shown

        def message(around: Around) -> Message:
            # A text of nothing but white space is left out, as the published runner does.
            before, after = ((text,) if text.strip() else () for text in around)
            return Message("user", (*before, picture, *after))

        if self._extracted is None:
            self._history.ask(message(self._prompts.first(self._task, observation)))
            return self._history.messages()
        last = LastTurn.of(self._extracted, observation)
        resumed = self._prompts.resumed(self._task, observation)
        self._history.ask(
            message(self._prompts.later(self._task, observation, last)),
            None if resumed is None else message(resumed),
        )
        return self._history.messages()

    def answered(self, answer: Answer) -> Decision:
        """Return what the model decided, given what it said to the last question."""
        self._history.answered(answer.text)
        parsed = parse(answer.text, truncated=answer.finish == "length", mode=self._mode, thought=self._thought)
        self._extracted = parsed.extracted
        return Decision(
            parsed.action,
            thought=parsed.thought,
            raw=answer.text,
            status=parsed.status,
            usage=answer.usage,
            made=self._made(answer),
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
            f"stop {p.stop}",
            *(f"{name} {value}" for name, value in self._runtime().items()),
            f"finish {answer.finish}",
            answer.detail,
        )
        return ", ".join(part for part in parts if part)


def dialogue_facts(settings: ModelSettings, prompts: Prompts) -> Mapping[str, str | int]:
    """Return what a model is asked with, for records and diagnostics."""
    return {
        "prompts": prompts.name,
        "prompts_sha256": prompts.digest,
        **({"prompts_notes": prompts.notes} if prompts.notes else {}),
        "thought": settings.thought,
        "window": settings.window,
        "views": settings.views,
        "drop": settings.drop,
        "parser": settings.parser,
        "stop": settings.stop,
        "picture": described(settings.image_format, settings.jpeg_quality),
    }
