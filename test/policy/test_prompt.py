"""Prompt sets: what ships says what is needed, a file with a mistake in it names it, and the published one is used."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from picture_scenes import blank
from published_stand_in import write

from hvs_ros.angles import Direction
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.model_settings import ParserMode, Thought
from hvs_ros.policy.parse import parse
from hvs_ros.policy.prompt import Done, LastTurn, PromptError, whole_degrees
from hvs_ros.policy.prompt_sets import load_prompts, prompt_set_names
from hvs_ros.policy.prompt_template import Template
from hvs_ros.policy.published_feedback import OWN
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Arrival, MoveOutcome
from hvs_ros.share import share_file

OBJECT = Task("find the {exit} sign")
PATH = Task("go to gate 7", TaskKind.PATH)
SEEN = replace(blank(), direction=Direction(314.6, -5.2), turn=2, turns_left=9)
TURNED = LastTurn("rotate(-45,0)", Done.DONE)
CHECKOUT = os.environ.get("HVS_TEST_HSTAR", "")
"""A checkout of the published environment, where there is one."""


def around(pair: tuple[str, str]) -> str:
    return "[picture]".join(pair)


# What ships.


def test_what_ships() -> None:
    assert prompt_set_names() == ["general", "hvs"]


@pytest.mark.parametrize("task", [OBJECT, PATH], ids=["object", "path"])
@pytest.mark.parametrize("thought", Thought)
@pytest.mark.parametrize("name", ["general", "hvs"])
def test_a_shipped_set_tells_a_model_what_it_needs(name: str, thought: Thought, task: Task) -> None:
    prompts = load_prompts(name, thought)
    system = prompts.system(task)
    for word in ("rotate(dyaw,dpitch)", "submit(yaw,pitch)", "green cross", "exactly one action", "dyaw > 0", "right"):
        assert word in system
    for word in ("dpitch > 0", "up", "whole", "(yaw,pitch)"):
        assert word in system
    assert ("<think>" in system) == (thought is not Thought.NONE)
    assert ("<observation>" in system) == (thought is Thought.GROUNDED)
    assert task.instruction not in system, "what depends on the task would keep searches from sharing a prefix"
    for pair in (prompts.first(task, SEEN), prompts.later(task, SEEN, TURNED), prompts.resumed(task, SEEN)):
        assert pair is not None
        assert task.instruction in around(pair) and "<answer>" in around(pair)


@pytest.mark.parametrize("kind", TaskKind)
@pytest.mark.parametrize("thought", Thought)
@pytest.mark.parametrize("name", ["general", "hvs"])
def test_the_worked_examples_are_right(name: str, thought: Thought, kind: TaskKind) -> None:
    example = yaml.safe_load(share_file("config", "policies", f"{name}.yaml").read_text())["example"]
    lines = [line for line in example[kind.value][thought.value].splitlines() if "<answer>" in line]
    looking = Direction(0.0, 0.0)
    for line in lines:
        action = parse(line, mode=ParserMode.STRICT, thought=thought).action
        assert action is not None, line
        if isinstance(action, Rotate):
            looking = looking.turned(action.dyaw_deg, action.dpitch_deg)
        else:
            assert (action.yaw_deg, action.pitch_deg) == (looking.yaw_deg, looking.pitch_deg)
    assert len(lines) >= 3 and isinstance(action, Submit)


def test_the_default_set_tells_the_direction_only_from_the_first_feedback_on() -> None:
    prompts = load_prompts("hvs")
    assert "315" not in around(prompts.first(OBJECT, SEEN))
    later = around(prompts.later(OBJECT, SEEN, TURNED))
    assert later.index("['rotate(-45,0)']") < later.index("(315,-5)") < later.index("done: False")
    assert later.index("done: False") < later.index("[picture]") < later.index(OBJECT.instruction)
    assert later.index(OBJECT.instruction) < later.index("<answer>")
    invalid = around(prompts.later(OBJECT, SEEN, LastTurn("", Done.INVALID)))
    assert "[]" in invalid and "315" not in invalid
    assert "too far" in around(prompts.later(OBJECT, SEEN, LastTurn("rotate(9,0)", Done.REFUSED, "too far")))


def test_the_general_set_always_tells_it() -> None:
    prompts = load_prompts("general")
    turns = (prompts.first(OBJECT, SEEN), prompts.later(OBJECT, SEEN, TURNED), prompts.resumed(OBJECT, SEEN))
    for pair in turns:
        assert pair is not None and "(315,-5)" in around(pair) and "Turns left: 9" in around(pair)


@pytest.mark.parametrize(
    ("direction", "degrees"),
    [
        (Direction(359.6, 0.0), (0, 0)),
        (Direction(-45.0, -0.4), (315, 0)),
        (Direction(720.2, 89.7), (0, 90)),
    ],
)
def test_directions_are_told_in_whole_degrees(direction: Direction, degrees: tuple[int, int]) -> None:
    assert whole_degrees(direction) == degrees


@pytest.mark.parametrize(
    ("extracted", "outcome", "done"),
    [
        ("rotate(9,0)", MoveOutcome.REACHED, Done.DONE),
        ("rotate(9,0)", MoveOutcome.CLAMPED, Done.CLAMPED),
        ("rotate(9,0)", MoveOutcome.REFUSED, Done.REFUSED),
        ("rotate(9,0)", None, Done.DONE),
        ("", None, Done.INVALID),
    ],
)
def test_what_came_of_an_answer(extracted: str, outcome: MoveOutcome | None, done: Done) -> None:
    arrival = None if outcome is None else Arrival(outcome, SEEN.direction, message="the head says so")
    last = LastTurn.of(extracted, replace(SEEN, arrival=arrival))
    assert last.done is done
    assert last.reason == ("the head says so" if done is Done.REFUSED else "")


# Files.


def content() -> dict[str, Any]:
    return {
        "system": {"object": "S {format} {example} {max_turns}"},
        "format": {"free": "form"},
        "example": {"object": {"free": "like {{this}}"}},
        "first": "1 {picture} {instruction}\n",
        "later": "{actions} {feedback} {done} {picture}{format}",
        "feedback": {"done": "at {yaw},{pitch}", "clamped": "c", "refused": "r {reason}", "invalid": "i"},
    }


def written(folder: Path, values: object) -> str:
    path = folder / "mine.yaml"
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values))
    return str(path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = written(tmp_path, content())
    prompts = load_prompts(path)
    assert (prompts.name, prompts.digest) == ("mine", hashlib.sha256(Path(path).read_bytes()).hexdigest())
    assert prompts.system(OBJECT) == "S form like {this} 10"
    assert prompts.first(OBJECT, SEEN) == ("1 ", " find the {exit} sign")
    assert prompts.later(OBJECT, SEEN, TURNED) == ("['rotate(-45,0)'] at 315,-5 False ", "form")
    assert prompts.resumed(OBJECT, SEEN) is None
    assert load_prompts(written(tmp_path, {**content(), "name": "ours"})).name == "ours"
    with pytest.raises(PromptError, match=r"mine.yaml: system.path is missing"):
        prompts.system(PATH)
    with pytest.raises(PromptError, match=r"mine.yaml: format.grounded is missing"):
        load_prompts(path, Thought.GROUNDED)


def changed(*keys: str, to: object) -> dict[str, Any]:
    values = content()
    place = values
    for key in keys[:-1]:
        place = place[key]
    if to is None:
        del place[keys[-1]]
    else:
        place[keys[-1]] = to
    return values


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (changed("first", to="{picture} {instructoin}"), r"first: .*\{instructoin\}.*did you mean \{instruction\}\?"),
        (changed("first", to="{picture} {feedback}"), r"first: .*no placeholder \{feedback\}"),
        (changed("first", to="{picture} {instruction.x}"), r"first: .*\{instruction.x\}"),
        (changed("first", to="{picture} {instruction!r}"), r"first: .*\{instruction!r\}"),
        (changed("first", to="{picture} {yaw:d}"), r"first: .*\{yaw:d\}"),
        (changed("first", to="{picture} {}"), r"first: .*\{\}"),
        (changed("first", to="{picture} }"), r"first: .*literal brace twice"),
        (changed("first", to="{picture"), r"first: .*literal brace twice"),
        (changed("first", to="none"), r"first: \{picture\} is there 0 times"),
        (changed("later", to="{picture}{picture}"), r"later: \{picture\} is there 2 times"),
        (changed("system", "object", to="{picture}"), r"system.object: .*\{picture\}"),
        (changed("feedback", "done", to="{actions}"), r"feedback.done: .*\{actions\}"),
        (changed("feedback", "refused", to=None), r"feedback.refused is missing"),
        (changed("feedback", to=None), r"feedback.done is missing"),
        (changed("later", to=None), r"later is missing"),
        (changed("first", to=7), r"first: text is expected, not 7"),
        (changed("example", to={}), r"example.object.free is missing"),
        (changed("system", to={}), r"system: neither object nor path"),
        (changed("system", to="S"), r"system: keys with values are expected"),
        (changed("system", "objects", to="S"), r"system.objects is not known; there may be object, path"),
        (changed("colour", to="green"), r"colour is not known"),
        ("- a\n- b", r"keys with values are expected"),
        ("", r"keys with values are expected"),
        ("a: [", r"this is no YAML"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, values: object, message: str) -> None:
    with pytest.raises(PromptError, match=f"mine.yaml.*{message}"):
        load_prompts(written(tmp_path, values))


@pytest.mark.parametrize("name", ["nothing", "nothing.yaml", "./nothing", "nothing.py", "~/nothing.yaml"])
def test_a_set_that_is_not_there_is_named_with_those_that_are(name: str) -> None:
    with pytest.raises(PolicyError, match=r"nothing.*known are general, hvs"):
        load_prompts(name)


@given(st.text(), st.text(), st.text())
def test_what_is_filled_in_is_never_read_again(before: str, instruction: str, after: str) -> None:
    def literal(text: str) -> str:
        return text.replace("{", "{{").replace("}", "}}")

    text = f"{literal(before)}{{instruction}}{{picture}}{literal(after)}"
    template = Template(text, {"instruction"}, "here", picture=True)
    assert template.around({"instruction": instruction}) == (before + instruction, after)


# The published module of a user's checkout.


@pytest.mark.parametrize("named", ["module", "checkout"])
def test_the_published_module_is_used_as_it_is(tmp_path: Path, named: str) -> None:
    path = write(tmp_path)
    prompts = load_prompts(str(path if named == "module" else tmp_path))
    assert (prompts.name, prompts.digest) == ("published", hashlib.sha256(path.read_bytes()).hexdigest())
    form = "1 action as <think>...</think><answer>...</answer>"
    assert prompts.system(OBJECT) == f"SYSTEM free_think object\n{form} for example"
    assert prompts.system(PATH).startswith("SYSTEM free_think path\n")
    assert prompts.first(OBJECT, SEEN) == ("FIRST\n", f"\nTask: find the {{exit}} sign\n{form}")
    assert prompts.later(OBJECT, SEEN, TURNED) == (
        "TAKEN ['rotate(-45,0)']\nSAID Went to <315;-5>\nover: False\n",
        f"\nTask: find the {{exit}} sign\n{form}",
    )
    assert "TAKEN []\nSAID Did not go." in prompts.later(OBJECT, SEEN, LastTurn("", Done.INVALID))[0]
    assert prompts.resumed(OBJECT, SEEN) is None
    assert prompts.notes.startswith("feedback of env.py ")
    assert load_prompts(str(path), Thought.NONE).system(OBJECT).startswith("SYSTEM no_think object")
    assert load_prompts(str(path), Thought.GROUNDED).system(OBJECT).startswith("SYSTEM grounding object")
    assert sorted(item.name for item in path.parent.iterdir()) == ["env.py", "prompt.py"], "nothing is left there"


@pytest.mark.parametrize(
    "environment", ["", "info['env_feedback'] = said()", "info['env_feedback'] = f'{x}' if a else 'b'", "def", "a = 1"]
)
def test_without_the_published_feedback_our_own_is_used_and_recorded(tmp_path: Path, environment: str) -> None:
    path = write(tmp_path, environment=False)
    if environment:
        (path.parent / "env.py").write_text(environment)
    prompts = load_prompts(str(path))
    assert prompts.notes == OWN.source
    assert "(315,-5)" in prompts.later(OBJECT, SEEN, TURNED)[0]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def system_prompt(", "cannot be loaded"),
        ("import a_package_that_is_not_there", "cannot be loaded.*a_package_that_is_not_there"),
        ("raise SystemExit(3)", "cannot be loaded"),
        ("x = 1", "there is no system_prompt in it"),
        (
            "format_prompt = {}\ndef system_prompt(**k): ...\n"
            "init_observation_template = action_template = system_prompt",
            "format_prompt has no 'free_think'",
        ),
        (
            "format_prompt = {'free_think': lambda **k: 7}\n"
            "def system_prompt(**k): ...\ninit_observation_template = action_template = system_prompt",
            "format_prompt returns 7",
        ),
    ],
)
def test_what_is_no_such_module_is_named(tmp_path: Path, source: str, message: str) -> None:
    path = tmp_path / "prompt.py"
    path.write_text(source)
    with pytest.raises(PromptError, match=f"prompt.py.*{message}"):
        load_prompts(str(path))


@pytest.mark.parametrize(("body", "message"), [("1/0", "fails: ZeroDivisionError"), ("'no place'", "leaves no place")])
def test_a_module_that_fails_later_is_named_too(tmp_path: Path, body: str, message: str) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text() + f"\ndef init_observation_template(**kwargs):\n    return {body}\n")
    with pytest.raises(PromptError, match=message):
        load_prompts(str(path)).first(OBJECT, SEEN)


@pytest.mark.skipif(not CHECKOUT, reason="HVS_TEST_HSTAR names no checkout of the published environment")
@pytest.mark.parametrize("thought", Thought)
def test_the_real_one(thought: Thought) -> None:
    prompts = load_prompts(CHECKOUT, thought)
    assert prompts.notes.startswith("feedback of env.py ")
    for task in (OBJECT, PATH):
        assert "green cross" in prompts.system(task) and "rotate(" in prompts.system(task)
        assert task.instruction in around(prompts.first(task, SEEN)) and "315" not in around(prompts.first(task, SEEN))
        later = around(prompts.later(task, SEEN, TURNED))
        assert "['rotate(-45,0)']" in later and "(315,-5)" in later and "done: False" in later
        assert "315" not in around(prompts.later(task, SEEN, LastTurn("", Done.INVALID)))
        assert later.endswith("<answer>...</answer>")
