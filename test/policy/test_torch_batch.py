"""Many conversations answered in batches: the same tokens as one at a time, whoever else is in the batch."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import SAYS

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.engine import Answer, Canceled
from hvs_ros.policy.qwen.checkpoint import read_checkpoint
from hvs_ros.policy.qwen.engine import QwenEngine
from hvs_ros.policy.shown import show

pytest.importorskip("torch")
pytest.importorskip("transformers")

from hvs_ros.policy.torch_batch_engine import TorchBatchEngine
from hvs_ros.policy.torch_batch_question import Conversation, Question

SIZES = ((180, 320), (200, 300), (90, 400), (60, 60))
LIMIT = 24
LIMIT_S = 60.0


def view(seed: int) -> Shown:
    height, width = SIZES[seed % len(SIZES)]
    return show(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


def search(seed: int, turns: int) -> list[Message]:
    """The questions of a search, of which no other has the pictures."""
    system = Message("system", ("You turn a head and search." * (1 + seed % 3),))
    words = ["Find the exit sign.", "Find the lift; it may be far.", "Where?"]
    return [
        system,
        *(
            Message("user", (f"Turn {turn}: ", view(100 * seed + turn), words[(seed + turn) % 3]))
            for turn in range(turns)
        ),
    ]


def settings(**options: Any) -> dict[str, Any]:
    return {"max_tokens": LIMIT, "temperature": 0.0, "stop": ("</answer>",), **options}


def network(folder: Path) -> Any:
    from hvs_ros.policy.torch_device import choose_device
    from hvs_ros.policy.torch_model import load_network

    return load_network(read_checkpoint(folder), choose_device("cpu"))


def alone(folder: Path, **options: Any) -> QwenEngine:
    return QwenEngine(read_checkpoint(folder), network(folder), **settings(**options))


@pytest.fixture
def engines() -> Iterator[list[TorchBatchEngine]]:
    made: list[TorchBatchEngine] = []
    yield made
    for engine in made:
        engine.close()


def together(engines: list[TorchBatchEngine], folder: Path, size: int, **options: Any) -> TorchBatchEngine:
    engines.append(TorchBatchEngine(read_checkpoint(folder), network(folder), size=size, **settings(**options)))
    return engines[-1]


def asked(engine: TorchBatchEngine, conversation: Conversation, messages: Sequence[Message]) -> Question:
    question = Question(conversation, messages)
    engine.ask(question)
    return question


def talk_alone(engine: QwenEngine, seed: int, turns: int) -> list[Answer]:
    system, *questions = search(seed, turns)
    said: list[Message] = []
    answers = []
    for question in questions:
        said.append(question)
        answers.append(engine.answer([system, *said[-5:]], threading.Event()))
        said.append(Message("assistant", (answers[-1].text,)))
    return answers


def talk_together(engine: TorchBatchEngine, turns: dict[int, int]) -> dict[int, list[Answer]]:
    """Searches by seed, with their numbers of turns, all at the same time: each goes on as soon as it is answered."""
    answers: dict[int, list[Answer]] = {seed: [] for seed in turns}
    failures: list[BaseException] = []

    def run(seed: int) -> None:
        system, *questions = search(seed, turns[seed])
        conversation, said = engine.conversation(), list[Message]()
        try:
            for question in questions:
                said.append(question)
                answer = asked(engine, conversation, [system, *said[-5:]]).answer.result(LIMIT_S)
                answers[seed].append(answer)
                said.append(Message("assistant", (answer.text,)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert not failures
    return answers


TURNS = {1: 4, 2: 1, 3: 2, 4: 5, 5: 3, 6: 2, 7: 5}


def facts(answers: list[Answer]) -> list[tuple[Any, ...]]:
    return [(answer.text, answer.finish, answer.usage) for answer in answers]


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({}, (1, 3, 7)),
        ({"temperature": 0.8}, (7,)),
        ({"reuse": False}, (3,)),
        ({"stop": (), "max_tokens": 9}, (7,)),
    ],
    ids=str,
)
def test_tokens_are_those_of_one_search_at_a_time(
    tiny_checkpoint: Path, engines: list[TorchBatchEngine], options: dict[str, Any], sizes: tuple[int, ...]
) -> None:
    """Prompts of different lengths and numbers of pictures, that join and leave at different times."""
    single = alone(tiny_checkpoint, **options)
    expected = {seed: facts(talk_alone(single, seed, turns)) for seed, turns in TURNS.items()}
    lengths = {len(told) for answers in expected.values() for told, *_ in answers}
    assert len(lengths) > 3, "answers of different lengths"
    for size in sizes:
        batch = together(engines, tiny_checkpoint, size, **options)
        answers = talk_together(batch, TURNS)
        assert {seed: facts(told) for seed, told in answers.items()} == expected, f"a batch of {size}"
        second = answers[1][1].detail
        if options.get("reuse", True):
            assert ", 1 of 2 pictures newly seen" in second and ", 0 of " not in second
        else:
            assert ", 2 of 2 pictures newly seen" in second and ", 0 of " in second


def test_what_is_drawn_depends_on_the_conversation_and_on_no_other(tiny_checkpoint: Path) -> None:
    """One at a time, in another order, and after a search that was broken off: the same; with other pictures: not."""
    engine = alone(tiny_checkpoint, temperature=1.0)
    first, second = (facts(talk_alone(engine, seed, 3)) for seed in (1, 2))
    assert facts(talk_alone(engine, 2, 3)) == second
    talk_alone(engine, 3, 1)
    assert facts(talk_alone(engine, 1, 3)) == first
    other = alone(tiny_checkpoint, temperature=1.0)
    assert facts(talk_alone(other, 1, 3)) == first != second
    assert facts(talk_alone(alone(tiny_checkpoint), 1, 3)) != first, "it is drawn, not the likeliest"


def test_one_that_is_canceled_disturbs_nobody(
    tiny_checkpoint: Path, endless_checkpoint: Path, engines: list[TorchBatchEngine]
) -> None:
    single = alone(tiny_checkpoint, max_tokens=60, stop=())
    expected = {seed: facts(talk_alone(single, seed, 3)) for seed in (1, 2, 3)}
    batch = together(engines, tiny_checkpoint, 4, max_tokens=60, stop=())
    stop = threading.Event()
    canceled: list[Question] = []

    def cancel() -> None:
        """At all times: while it waits, while its prompt is read, and while it is answered."""
        seed = 10
        while not stop.is_set():
            seed += 1
            canceled.append(asked(batch, batch.conversation(), search(seed, 1)))
            time.sleep(0.003 * (seed % 9))
            canceled[-1].cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        answers = talk_together(batch, {1: 3, 2: 3, 3: 3})
    finally:
        stop.set()
        thread.join(LIMIT_S)
    assert {seed: facts(told) for seed, told in answers.items()} == expected
    errors = [question.answer.exception(LIMIT_S) for question in canceled]
    assert sum(isinstance(error, Canceled) for error in errors) > 3
    assert all(error is None or isinstance(error, Canceled) for error in errors)


def test_one_that_cannot_be_answered_disturbs_nobody(tiny_checkpoint: Path, engines: list[TorchBatchEngine]) -> None:
    batch = together(engines, tiny_checkpoint, 3)
    expected = facts(talk_alone(alone(tiny_checkpoint), 1, 1))
    system, question = search(1, 1)
    shown = question.pictures[0]
    wrong = Message("user", (Shown(shown.data, shown.media_type, 28, 28), "Where?"))
    questions = [asked(batch, batch.conversation(), messages) for messages in ([system, wrong], [system, question])]
    with pytest.raises(PolicyError, match="said to be"):
        questions[0].answer.result(LIMIT_S)
    assert facts([questions[1].answer.result(LIMIT_S)]) == expected


def test_a_failure_of_the_device_fails_those_in_the_batch_and_no_later_one(
    tiny_checkpoint: Path, engines: list[TorchBatchEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = together(engines, tiny_checkpoint, 2)
    expected = facts(talk_alone(alone(tiny_checkpoint), 1, 1))
    conversation = batch.conversation()
    with monkeypatch.context() as patch:
        patch.setattr(batch._batch, "step", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            asked(batch, conversation, search(1, 1)).answer.result(LIMIT_S)
    assert facts([asked(batch, conversation, search(1, 1)).answer.result(LIMIT_S)]) == expected


def test_closing_ends_what_is_said_and_what_waits(endless_checkpoint: Path, engines: list[TorchBatchEngine]) -> None:
    batch = together(engines, endless_checkpoint, 1, max_tokens=100_000)
    questions = [asked(batch, batch.conversation(), search(seed, 1)) for seed in (1, 2)]
    time.sleep(0.2)
    batch.close()
    for question in [*questions, asked(batch, questions[0].conversation, search(3, 1))]:
        assert isinstance(question.answer.exception(1.0), Canceled)


def test_it_tells_what_it_is(speaking_checkpoint: Path, engines: list[TorchBatchEngine]) -> None:
    batch = together(engines, speaking_checkpoint, 2)
    told = batch.describe()
    assert told["model"] == "speaking" and told["device"] == "cpu" and str(told["sampling"]).startswith("greedy")
    assert told == alone(speaking_checkpoint).describe()
    assert asked(batch, batch.conversation(), search(1, 1)).answer.result(LIMIT_S).text == SAYS
