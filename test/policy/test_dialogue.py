"""What is said between a search and a model, without the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asking import view

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, conversation_seed
from hvs_ros.policy.dialogue import Dialogue, dialogue_facts
from hvs_ros.policy.engine import Answer
from hvs_ros.policy.model_settings import ModelSettings, Thought
from hvs_ros.policy.prompt_sets import load_prompts
from hvs_ros.policy.shown import show
from hvs_ros.search.action import Rotate
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.task import Task

TASK = Task("find the exit sign")
SAID = Answer("<think>Left.</think><answer>rotate(-30,0)</answer>")


def dialogue(**settings: Any) -> Dialogue:
    given = ModelSettings.of(settings)
    return Dialogue(given, load_prompts(given.prompts, Thought(given.thought)), lambda: {"model": "none"})


def test_a_picture_may_be_encoded_before_and_anywhere() -> None:
    at_once, before = dialogue(), dialogue()
    for one in (at_once, before):
        one.start(TASK)
    for turn in (1, 2, 3):
        shown = before.encode(view(turn).image)
        assert at_once.ask(view(turn)) == before.ask(view(turn), shown)
        assert at_once.answered(SAID) == before.answered(SAID)


def test_what_was_asked_and_never_answered_is_asked_anew() -> None:
    talk = dialogue()
    with pytest.raises(PolicyError, match="a search was not started"):
        talk.ask(view(1))
    talk.start(TASK)
    first = talk.ask(view(1))
    assert talk.ask(view(1)) == first
    assert talk.answered(SAID).action == Rotate(-30, 0)
    second = talk.ask(view(2))
    assert second[:2] == first and second[2] == Message("assistant", (SAID.text,)) and len(second) == 4
    talk.start(TASK)
    assert talk.ask(view(1)) == first


def test_dialogues_that_share_their_prompts_know_nothing_of_each_other() -> None:
    settings = ModelSettings()
    prompts = load_prompts(settings.prompts, Thought.FREE)
    one, other = Dialogue(settings, prompts, dict), Dialogue(settings, prompts, dict)
    one.start(TASK)
    other.start(Task("find the lift"))
    one.ask(view(1))
    one.answered(SAID)
    assert len(other.ask(view(1))) == 2 and "lift" in other.ask(view(1))[-1].text
    assert len(one.ask(view(2))) == 4 and "lift" not in str([message.text for message in one.ask(view(2))])


@pytest.mark.parametrize(("stop", "status"), [("answer", ParseStatus.TRUNCATED), ("none", ParseStatus.OK)])
def test_a_text_that_was_cut_off(stop: str, status: ParseStatus) -> None:
    """Stopped at its answer, only a text without one is cut off."""
    talk = dialogue(stop=stop)
    talk.start(TASK)
    talk.ask(view(1))
    said = "<think>Left" if stop == "answer" else f"{SAID.text} Let me also"
    decision = talk.answered(Answer(said, "length"))
    assert decision.status is status and decision.raw == said and f"stop {stop}" in decision.made
    assert talk.ask(view(2))[2].text == said


def test_its_facts_name_all_that_changes_what_is_said() -> None:
    settings = ModelSettings(stop="none", views=3, image_format="png")
    facts = dialogue_facts(settings, load_prompts("general", Thought.FREE))
    assert facts["stop"] == "none" and facts["views"] == 3 and facts["picture"] == "PNG"
    assert facts["prompts"] == "general" and len(str(facts["prompts_sha256"])) == 64


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m[:-1],
        lambda m: (Message("user", m[0].parts), *m[1:]),
        lambda m: (m[0], Message("user", m[1].parts[::-1])),
        lambda m: (m[0], Message("user", ("Find it", show(view(2).image)))),
        lambda m: (m[0], Message("user", ("Find ", "it", m[1].parts[1]))),
        lambda m: (Message("system", (m[0].text + "user",)), m[1]),
    ],
)
def test_a_seed_depends_on_all_that_was_said_and_shown(change: Callable[[Any], tuple[Message, ...]]) -> None:
    messages = (Message("system", ("Search.",)), Message("user", ("Find it", show(view(1).image))))
    again = (Message("system", ("Search.",)), Message("user", ("Find it", show(view(1).image))))
    assert conversation_seed(messages) == conversation_seed(again)
    assert conversation_seed(change(messages)) != conversation_seed(messages)
