"""A model's search: what it is sent, what is made of what it says, and how that is recorded; with a scripted model."""

from __future__ import annotations

import hashlib
import inspect
import io
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from picture_scenes import PictureHead, Sign, blank, panorama
from PIL import Image
from published_stand_in import write

from hvs_ros.angles import Direction
from hvs_ros.benchmark.record import TurnRecord
from hvs_ros.panorama import draw_cross
from hvs_ros.policy.contract import Cancelable, Describable, Policy, PolicyError, PolicyUnavailableError
from hvs_ros.policy.conversation import Message
from hvs_ros.policy.engine import Answer, Canceled
from hvs_ros.policy.model_policy import ModelPolicy
from hvs_ros.policy.model_settings import ModelSettings, takes_model_settings
from hvs_ros.policy.runner import PolicyRunner
from hvs_ros.recording.from_search import from_search
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import ParseStatus, Usage
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.loop import run_search
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Arrival, MoveOutcome

TASK = Task("find the exit sign")
FULL = "<think>There.</think><answer>{}</answer>"


class ScriptedEngine:
    """Says what the test tells it to, and remembers what it was asked."""

    def __init__(self, *answers: str | Answer | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[tuple[Message, ...]] = []
        self.closed = False

    def describe(self) -> dict[str, str | int | float | bool]:
        return {"model": "scripted", "precision": "none"}

    def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
        self.requests.append(tuple(messages))
        said = self._answers[min(len(self.requests), len(self._answers)) - 1]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Answer) else Answer(said)

    def close(self) -> None:
        self.closed = True


def make(*answers: str | Answer | Exception, **settings: Any) -> tuple[ModelPolicy, ScriptedEngine]:
    engine = ScriptedEngine(*answers)
    return ModelPolicy(lambda: engine, ModelSettings.of(settings)), engine


def full(action: str) -> str:
    return FULL.format(action)


def test_it_keeps_the_contract() -> None:
    policy, engine = make("")
    assert isinstance(policy, Policy) and isinstance(policy, Cancelable) and isinstance(policy, Describable)
    with pytest.raises(PolicyError, match="not started"):
        policy.decide(blank())
    policy.close()
    assert engine.closed


def test_a_whole_search_in_this_process() -> None:
    policy, engine = make(
        Answer(full("rotate(90,0)"), usage=Usage(1500, 20, 646), detail="prefill 0.1 s"),
        "Let me see.",
        full("rotate(60,5)"),
        Answer("<think>and then and then", finish="length"),
        full("submit(150,5)"),
    )
    head = PictureHead(panorama(Sign("EXIT", 150)))
    result = run_search(TASK, head, PolicyRunner(lambda: policy), mark=draw_cross, mark_name="green cross")

    assert (result.outcome, result.submitted) == (Outcome.SUBMITTED, Direction(150, 5))
    decisions = [turn.decision for turn in result.turns]
    assert [d.action for d in decisions] == [Rotate(90, 0), None, Rotate(60, 5), None, Submit(150, 5)]
    ok, none, cut = ParseStatus.OK, ParseStatus.NO_ANSWER, ParseStatus.TRUNCATED
    assert [d.status for d in decisions] == [ok, none, ok, cut, ok]
    assert [d.raw for d in decisions][1] == "Let me see." and decisions[0].thought == "There."
    assert decisions[0].usage == Usage(1500, 20, 646)

    questions = [request[-1].text for request in engine.requests]
    assert "(0,0)" not in questions[0] and TASK.instruction in questions[0]
    assert "['rotate(90,0)']" in questions[1] and "= (90,0)" in questions[1]
    assert "[]" in questions[2] and "could not be carried out" in questions[2]
    assert "= (150,5)" in questions[3]
    last = engine.requests[-1]
    assert [message.role for message in last] == ["system", *["user", "assistant"] * 4, "user"]
    assert [message.text for message in last if message.role == "assistant"] == [d.raw for d in decisions[:-1]]
    for earlier, later in zip(engine.requests, engine.requests[1:], strict=False):
        assert later[: len(earlier)] == earlier


def test_what_is_recorded_of_a_turn() -> None:
    policy, _ = make(Answer(full("submit(1,2)"), detail="cache 5 of 9"), views=3, window="published")
    head = PictureHead(panorama())
    result = run_search(TASK, head, PolicyRunner(lambda: policy), mark=draw_cross, mark_name="green cross")
    about = policy.describe()
    made = from_search(result, TASK).turns[0].picture
    assert TurnRecord.of(result.turns[0]).picture == made
    assert made.startswith("960x540, green cross, ")
    for part in (
        "JPEG quality 85 4:2:0",
        f"prompts hvs {str(about['prompts_sha256'])[:16]}",
        "thought free",
        "window published 3",
        "parser lenient",
        "model scripted",
        "finish stop",
        "cache 5 of 9",
    ):
        assert part in made
    assert about["model"] == "scripted" and about["prompts"] == "hvs" and about["views"] == 3
    assert PolicyRunner(lambda: policy).describe() == {}


def test_the_prompts_of_a_users_checkout(tmp_path: Any) -> None:
    path = write(tmp_path)
    policy, engine = make(full("rotate(90, 0)"), prompts=str(path))
    policy.start(TASK)
    decision = policy.decide(blank())
    policy.decide(blank(turn=2, yaw_deg=90))
    assert engine.requests[1][0].text.startswith("SYSTEM free_think object\n")
    question = engine.requests[1][-1]
    assert question.parts[0] == "TAKEN ['rotate(90, 0)']\nSAID Went to <90;0>\nover: False\n"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert f"prompts published {digest[:16]}, feedback of env.py " in decision.made


def test_the_next_search_knows_nothing_of_the_last() -> None:
    policy, engine = make(full("rotate(90,0)"))
    policy.start(TASK)
    policy.decide(blank())
    policy.start(Task("go out", TaskKind.PATH))
    policy.decide(blank())
    assert len(engine.requests[1]) == 2
    assert TASK.instruction not in engine.requests[1][-1].text
    assert engine.requests[1][0] != engine.requests[0][0]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (MoveOutcome.REACHED, "= (10,0)"),
        (MoveOutcome.CLAMPED, "as far as it can"),
        (MoveOutcome.REFUSED, "(out of reach)"),
    ],
)
def test_it_is_told_how_the_move_ended(outcome: MoveOutcome, words: str) -> None:
    policy, engine = make(full("rotate(10,0)"))
    policy.start(TASK)
    policy.decide(blank())
    arrival = Arrival(outcome, Direction(10, 0), message="out of reach")
    policy.decide(replace(blank(turn=2, yaw_deg=10), arrival=arrival))
    assert words in engine.requests[1][-1].text


# Pictures.


def test_the_picture_is_what_pillow_would_have_sent() -> None:
    """The published evaluation encodes with Pillow, quality 85; the model sees what comes of that."""
    image = draw_cross(PictureHead(panorama(Sign("EXIT", 10))).look().image)
    policy, engine = make(full("rotate(1,0)"))
    policy.start(TASK)
    policy.decide(replace(blank(), image=image))
    (shown,) = engine.requests[0][-1].pictures
    buffer = io.BytesIO()
    Image.fromarray(image[:, :, ::-1]).save(buffer, "JPEG", quality=85, optimize=True)
    ours, theirs = (np.asarray(Image.open(io.BytesIO(data))) for data in (shown.data, buffer.getvalue()))
    assert shown.media_type == "image/jpeg" and (shown.width, shown.height) == (image.shape[1], image.shape[0])
    np.testing.assert_array_equal(ours, theirs)
    assert shown.key == hashlib.sha256(shown.data).hexdigest()
    row, column = image.shape[0] // 2, image.shape[1] // 2
    red, green, blue = ours[row, column].astype(int)
    assert green > red + 50 and green > blue + 50, "the cross is still green"


def test_as_png_nothing_is_lost() -> None:
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (30, 40, 3), np.uint8)
    policy, engine = make(full("rotate(1,0)"), image_format="png")
    policy.start(TASK)
    decision = policy.decide(replace(blank(), image=image))
    (shown,) = engine.requests[0][-1].pictures
    assert shown.media_type == "image/png" and "PNG" in decision.made
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(shown.data)))[:, :, ::-1], image)


def test_the_same_view_is_the_same_picture() -> None:
    policy, engine = make("nothing")
    policy.start(TASK)
    policy.decide(blank())
    policy.decide(blank(turn=2))
    first, second = engine.requests[1][1].pictures[0], engine.requests[1][-1].pictures[0]
    assert first.key == second.key


# Failures.


def test_a_model_that_cannot_be_reached_ends_the_search_and_is_no_turn() -> None:
    policy, _ = make(full("rotate(1,0)"), PolicyUnavailableError("nobody answers"))
    result = run_search(TASK, PictureHead(panorama()), PolicyRunner(lambda: policy))
    assert result.outcome is Outcome.POLICY_UNAVAILABLE and "nobody answers" in result.message
    assert len(result.turns) == 1


def test_a_model_that_never_says_an_action_uses_up_its_turns() -> None:
    policy, engine = make("")
    result = run_search(Task("find it", max_turns=7), PictureHead(panorama()), PolicyRunner(lambda: policy))
    assert result.outcome is Outcome.TURNS_EXHAUSTED
    assert {turn.decision.status for turn in result.turns} == {ParseStatus.NO_ANSWER}
    assert [len(request) for request in engine.requests] == [2, 4, 6, 8, 10, 10, 10]


class Thinking(ScriptedEngine):
    """Thinks until it is canceled."""

    def __init__(self) -> None:
        super().__init__("")
        self.ended = threading.Event()

    def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
        self.requests.append(tuple(messages))
        if len(self.requests) > 1:
            return Answer(full("submit(0,0)"))
        assert canceled.wait(20.0)
        self.ended.set()
        raise Canceled("canceled")


def test_a_search_is_canceled_while_the_model_thinks_and_the_next_one_runs() -> None:
    engine = Thinking()
    runner = PolicyRunner(lambda: ModelPolicy(lambda: engine, ModelSettings()))
    runner.start(TASK)
    threading.Timer(0.1, runner.cancel).start()
    began = time.monotonic()
    with pytest.raises(SearchFailure) as caught:
        runner.decide(blank())
    assert caught.value.outcome is Outcome.CANCELED
    assert time.monotonic() - began < 5.0
    assert engine.ended.wait(5.0)
    runner.reset()
    runner.start(TASK)
    assert runner.decide(blank()).action == Submit(0, 0)


def test_a_late_answer_is_none() -> None:
    policy: ModelPolicy

    class Late(ScriptedEngine):
        def answer(self, messages: Sequence[Message], canceled: threading.Event) -> Answer:
            policy.cancel()
            return Answer(full("submit(0,0)"))

    policy = ModelPolicy(lambda: Late(""), ModelSettings())
    policy.start(TASK)
    with pytest.raises(Canceled):
        policy.decide(blank())


def test_prompts_are_read_before_a_model_is_loaded() -> None:
    loaded = []
    with pytest.raises(PolicyError, match="there are no prompts 'none'"):
        ModelPolicy(lambda: loaded.append(1) or ScriptedEngine(""), ModelSettings(prompts="none"))  # type: ignore[func-returns-value]
    assert not loaded


# Settings.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"view": 5}, "there is no setting 'view'.*views"),
        ({"thought": "deep"}, "thought is 'deep'; give free, none or grounded"),
        ({"window": 5}, "window is 5; give views or published"),
        ({"parser": "lax"}, r"parser is 'lax'; give strict, lenient or lenient\+"),
        ({"image_format": "bmp"}, "image_format is 'bmp'; give jpeg or png"),
        ({"prompts": " "}, "prompts is ' '"),
        ({"views": 0}, "views is 0; give a whole number from 1"),
        ({"views": 2.5}, "views is 2.5"),
        ({"views": True}, "views is True"),
        ({"views": 3, "drop": 4}, "drop is 4; give a whole number from 1 to 3"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"jpeg_quality": 101}, "jpeg_quality is 101"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"temperature": -1}, "temperature is -1; give 0"),
        ({"temperature": float("nan")}, "temperature is nan"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        ModelSettings.of(settings)


def test_a_policy_shows_the_common_settings_as_its_own() -> None:
    @takes_model_settings
    class Own(ModelPolicy):
        def __init__(self, device: str = "auto", **common: Any) -> None:
            super().__init__(lambda: ScriptedEngine(device), ModelSettings.of(common))

    parameters = inspect.signature(Own).parameters
    assert list(parameters)[:2] == ["device", "prompts"]
    assert parameters["views"].default == 5 and all(p.kind is not p.VAR_KEYWORD for p in parameters.values())
    assert Own(views=2).describe()["views"] == 2
