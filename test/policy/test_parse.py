"""What a model said, in every way that was seen: what moves the head, and the name of what does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.angles import Direction
from hvs_ros.policy.model_settings import ParserMode, Thought
from hvs_ros.policy.parse import Parsed, parse, thought_in
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.decision import ParseStatus

STRICT, LENIENT, PLUS = ParserMode.STRICT, ParserMode.LENIENT, ParserMode.LENIENT_PLUS
OK, NO_ANSWER, BAD_ACTION = ParseStatus.OK, ParseStatus.NO_ANSWER, ParseStatus.BAD_ACTION
REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "hstar_episodes.json"

# Answers that the published evaluation takes for an action, and those that it does not.
VALID: dict[str, Action] = {
    "rotate(30,0)": Rotate(30, 0),
    "rotate(+10, -5)": Rotate(10, -5),
    " rotate( 10 , -5 ) ": Rotate(10, -5),
    "rotate(10,0,7)": Rotate(10, 0),
    "rotate(10,0,seven)": Rotate(10, 0),
    "rotate 10,0": Rotate(10, 0),
    "rotate10,0": Rotate(10, 0),
    "rotate((10,0))": Rotate(10, 0),
    "rotate(10,0": Rotate(10, 0),
    "rotate(1000,0)": Rotate(1000, 0),
    "rotate(1_0,0)": Rotate(10, 0),
    "rotate(-0,+0)": Rotate(0, 0),
    "submit(-75,5)": Submit(-75, 5),
    "submit(285,5)": Submit(285, 5),
    "rotate(1,1)|rotate(2,2)": Rotate(1, 1),
    "|rotate(1,1)|": Rotate(1, 1),
    "<answer>rotate(1,1)": Rotate(1, 1),
}
INVALID = {
    "": NO_ANSWER,
    "  ": NO_ANSWER,
    "|": NO_ANSWER,
    "rotate(10.0,0)": BAD_ACTION,
    "rotate(yaw=10,pitch=0)": BAD_ACTION,
    "rotate (10,0)": BAD_ACTION,
    "rotate(10,0).": BAD_ACTION,
    "submit(285°,5°)": BAD_ACTION,
    "Rotate(10,0)": BAD_ACTION,
    "rotate[10,0]": BAD_ACTION,
    "rotate(10)": BAD_ACTION,
    "rotate(ten,0)": BAD_ACTION,
    "rotate(- 10,0)": BAD_ACTION,
    "zoom(in)": BAD_ACTION,
    "turn left": BAD_ACTION,
    "I rotate(10,0)": BAD_ACTION,
    "rotate(3601,0)": ParseStatus.OUT_OF_RANGE,
    f"submit({'9' * 5000},0)": ParseStatus.OUT_OF_RANGE,
}


def free(answer: str) -> str:
    return f"<think>There is a door.</think><answer>{answer}</answer>"


@pytest.mark.parametrize("mode", [LENIENT, PLUS])
@pytest.mark.parametrize("answer", VALID)
def test_what_the_published_evaluation_accepts(answer: str, mode: ParserMode) -> None:
    parsed = parse(free(answer), mode=mode)
    assert (parsed.status, parsed.action) == (OK, VALID[answer])


@pytest.mark.parametrize("mode", [STRICT, LENIENT])
@pytest.mark.parametrize("answer", INVALID)
def test_what_it_does_not(answer: str, mode: ParserMode) -> None:
    assert parse(free(answer), mode=mode) == Parsed(INVALID[answer], thought="There is a door.")


def test_the_action_is_extracted_as_it_was_written() -> None:
    assert parse(free(" rotate(+10, -5) | submit(1,1)")).extracted == "rotate(+10, -5)"
    assert parse(free("zoom(in)")).extracted == ""


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("<answer>rotate(1,1)</answer>", Rotate(1, 1)),
        ("I turn. <answer>rotate(1,1)</answer> Good?", Rotate(1, 1)),
        ("<think>a</think> so <answer>rotate(1,1)</answer>", Rotate(1, 1)),
        ("<think>a</think>\n<answer>rotate(1,1)</answer><answer>rotate(2,2)</answer>", Rotate(1, 1)),
        # The answer after the thought is meant; a text that does not begin with the thought is not that orderly.
        ("<think>maybe <answer>rotate(1,1)</answer></think><answer>rotate(2,2)</answer>", Rotate(2, 2)),
        (" <think>maybe <answer>rotate(1,1)</answer></think><answer>rotate(2,2)</answer>", Rotate(1, 1)),
        ("<think>maybe <answer>rotate(1,1)</answer></think><answer></answer>", None),
        ("<think>only <answer>rotate(1,1)</answer></think>", Rotate(1, 1)),
        ("<think>a<answer>rotate(1,1)</answer>", Rotate(1, 1)),
        ("<image><think>a <answer>rotate(1,1)</answer></think><answer>rotate(2,2)</answer>", Rotate(2, 2)),
        ("<answer>rotate(1,1)", None),
        ("rotate(1,1)", None),
        ("I am not sure.", None),
        ("", None),
    ],
)
def test_where_the_lenient_parser_finds_the_answer(text: str, action: Action | None) -> None:
    assert parse(text).action == action


@pytest.mark.parametrize(
    ("thought", "mode", "text", "status"),
    [
        (Thought.FREE, STRICT, " <think>a\nb</think>\n<answer>rotate(1,1)</answer>\n", OK),
        (Thought.FREE, STRICT, "<answer>rotate(1,1)</answer>", NO_ANSWER),
        (Thought.FREE, STRICT, "So: <think>a</think><answer>rotate(1,1)</answer>", NO_ANSWER),
        (Thought.FREE, STRICT, "<think>a</think> so <answer>rotate(1,1)</answer>", NO_ANSWER),
        (Thought.FREE, STRICT, "<think>a</think><answer>rotate(1,1)</answer> Good?", NO_ANSWER),
        (Thought.FREE, STRICT, free("rotate(1,1)|rotate(2,2)"), ParseStatus.SEVERAL_ACTIONS),
        (Thought.FREE, STRICT, free("rotate(1,1)") + "<answer>rotate(2,2)</answer>", NO_ANSWER),
        (Thought.NONE, STRICT, "<answer>rotate(1,1)</answer>", OK),
        (Thought.NONE, STRICT, free("rotate(1,1)"), NO_ANSWER),
        (Thought.NONE, LENIENT, "\n<answer>rotate(1,1)</answer> ", OK),
        (Thought.NONE, LENIENT, free("rotate(1,1)"), NO_ANSWER),
        (Thought.NONE, PLUS, free("rotate(1,1)"), OK),
        (
            *(Thought.GROUNDED, STRICT),
            *("<think> <observation>a</observation>\n<reasoning>b</reasoning></think><answer>rotate(1,1)</answer>", OK),
        ),
        (Thought.GROUNDED, STRICT, free("rotate(1,1)"), NO_ANSWER),
        (Thought.GROUNDED, LENIENT, free("rotate(1,1)"), NO_ANSWER),
        (
            *(Thought.GROUNDED, LENIENT, "So. <think><observation>a</observation><reasoning>b</reasoning></think>"),
            NO_ANSWER,
        ),
        (
            *(Thought.GROUNDED, LENIENT),
            "So. <think><observation>a</observation><reasoning>b</reasoning></think><answer>rotate(1,1)</answer> Good?",
            OK,
        ),
        (Thought.GROUNDED, PLUS, free("rotate(1,1)"), OK),
    ],
)
def test_formats(thought: Thought, mode: ParserMode, text: str, status: ParseStatus) -> None:
    assert parse(text, mode=mode, thought=thought).status is status


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("rotate(10.0,0)", Rotate(10, 0)),
        ("rotate(10.5,-10.5)", Rotate(11, -11)),
        ("rotate(-.4,0.4)", Rotate(0, 0)),
        ("rotate(yaw=-10, pitch=5)", Rotate(-10, 5)),
        ("rotate(dyaw: 10, dpitch: 5)", Rotate(10, 5)),
        ("Rotate (10, 0).", Rotate(10, 0)),
        ("SUBMIT[285°, 5°]", Submit(285, 5)),
        ("`submit(285 deg, 5 degrees)`", Submit(285, 5)),
        ("rotate \N{MINUS SIGN}10 5", Rotate(-10, 5)),
        ("**rotate(10,0)** and then submit(1,1)", Rotate(10, 0)),
        ("I rotate(10,0)", Rotate(10, 0)),
    ],
)
def test_what_else_can_be_understood(answer: str, action: Action) -> None:
    parsed = parse(free(answer), mode=PLUS)
    assert (parsed.status, parsed.action) == (OK, action)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("<think>a</think><answer>rotate(10,0)", OK),
        (" <think>maybe <answer>submit(1,1)</answer></think><answer>rotate(10,0)</answer>", OK),
        ("rotate(10,0)", NO_ANSWER),
        (free("rotate(north,0)"), BAD_ACTION),
        (free("gyrotate(10,0)"), BAD_ACTION),
        (free("rotate(1e9,0)"), BAD_ACTION),
        (free("rotate(99999.5,0)"), ParseStatus.OUT_OF_RANGE),
        (free(f"rotate({'9' * 400}.0,0)"), ParseStatus.OUT_OF_RANGE),
    ],
)
def test_what_cannot(text: str, status: ParseStatus) -> None:
    parsed = parse(text, mode=PLUS)
    assert parsed.status is status
    assert parsed.action == (Rotate(10, 0) if status is OK else None)


@pytest.mark.parametrize("mode", ParserMode)
def test_an_answer_that_was_cut_off_is_not_acted_on(mode: ParserMode) -> None:
    assert parse("<think>I see", truncated=True, mode=mode) == Parsed(ParseStatus.TRUNCATED, thought="I see")
    assert parse("<think>I see</think><answer>rotate(1,1", truncated=True, mode=mode).status is ParseStatus.TRUNCATED
    backwards = parse("</answer><answer>rotate(1,1)", truncated=True, mode=mode)
    assert backwards.status is ParseStatus.TRUNCATED


@pytest.mark.parametrize("mode", ParserMode)
def test_a_closed_answer_counts_whatever_was_cut_off_after_it_unless_nothing_may_be_there(mode: ParserMode) -> None:
    parsed = parse(free("rotate(1,1)") + " And then", truncated=True, mode=mode)
    if mode is ParserMode.STRICT:
        assert parsed.status is ParseStatus.TRUNCATED
    else:
        assert parsed.status is ParseStatus.OK and parsed.action == Rotate(1, 1)
    for thought in (Thought.NONE, Thought.GROUNDED):
        inexact = parse(free("rotate(1,1)"), truncated=True, mode=ParserMode.LENIENT, thought=thought)
        assert inexact.status is ParseStatus.TRUNCATED, "it is not in the form that the mode reads"


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("<think> a door </think><answer>rotate(1,1)</answer>", "a door"),
        ("<answer>rotate(1,1)</answer>", ""),
        ("I turn. <answer>rotate(1,1)</answer>", "I turn."),
        ("still thinking</think><answer>rotate(1,1)</answer>", "still thinking"),
        ("<think>a <answer>rotate(1,1)</answer>", "a"),
        (
            "<think><observation>a door</observation> <reasoning>go there</reasoning></think><answer>x</answer>",
            "a door\ngo there",
        ),
        ("", ""),
    ],
)
def test_thoughts(text: str, thought: str) -> None:
    assert thought_in(text) == thought
    assert parse(text).thought == thought


def published(answer: str) -> Action | None:
    """What the published environment makes of the first action in an answer."""
    parts = [part.strip() for part in answer.split("|") if part.strip()]
    for name, kind in (("rotate", Rotate), ("submit", Submit)):
        if parts and parts[0].startswith(name):
            numbers = parts[0][len(name) :].strip("()").split(",")
            try:
                return kind(int(numbers[0]), int(numbers[1]))
            except (ValueError, IndexError):  # of OutOfRangeError, too
                return None
    return None


PIECES = ["(", ")", ",", "|", " ", "-", "+", "7", "30", "_", ".", "\n", "x", "°", "٣"]
NAMES = ["rotate", "submit", "Rotate", ""]


@given(st.sampled_from(NAMES), st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_lenient_decides_as_the_published_code(name: str, rest: str) -> None:
    parsed = parse(free(name + rest))
    if parsed.status is not ParseStatus.OUT_OF_RANGE:
        assert parsed.action == published(name + rest)


@given(st.text(max_size=200), st.sampled_from(ParserMode), st.sampled_from(Thought), st.booleans())
def test_no_text_breaks_it(text: str, mode: ParserMode, thought: Thought, truncated: bool) -> None:
    parsed = parse(text, mode=mode, thought=thought, truncated=truncated)
    assert (parsed.action is None) == (parsed.status is not OK)


@given(st.integers(-3600, 3600), st.integers(-3600, 3600), st.sampled_from(ParserMode))
def test_what_was_trained_reads_the_same_in_every_mode(yaw: int, pitch: int, mode: ParserMode) -> None:
    for kind in (Rotate, Submit):
        action = kind(yaw, pitch)
        assert parse(free(str(action)), mode=mode).action == action


def test_a_long_answer_is_read_in_no_time() -> None:
    for mode in ParserMode:
        for thought in Thought:
            parse("<think>" * 5_000 + "<answer>" * 5_000, mode=mode, thought=thought)
            parse("<think><observation>" * 1_000 + "</answer>", mode=mode, thought=thought)
            parse(free("rotate(1" + " " * 5_000), mode=mode, thought=thought)
            parse(free("rotate(" + "1" * 5_000), mode=mode, thought=thought)


@pytest.fixture(scope="module")
def episodes() -> list[dict[str, Any]]:
    if not REFERENCE.is_file():
        pytest.skip("the reference episodes are not at hand")
    found: list[dict[str, Any]] = json.loads(REFERENCE.read_text())["episodes"]
    return found


def test_episodes_that_the_published_environment_ran(episodes: list[dict[str, Any]]) -> None:
    for episode in episodes:
        looking = Direction(episode["start_yaw_deg"], 0.0)
        for turn in episode["turns"]:
            parsed = parse(turn["answer"])
            assert (parsed.status is OK) == turn["valid"], turn["answer"]
            if isinstance(parsed.action, Rotate):
                looking = looking.turned(parsed.action.dyaw_deg, parsed.action.dpitch_deg)
            assert (looking.yaw_deg, looking.pitch_deg) == (turn["yaw_deg"], turn["pitch_deg"]), turn["answer"]
            assert isinstance(parsed.action, Submit) == turn["done"]


def test_strict_accepts_of_them_what_kept_the_format(episodes: list[dict[str, Any]]) -> None:
    for turn in (turn for episode in episodes for turn in episode["turns"]):
        status = parse(turn["answer"], mode=STRICT).status
        if "|" in turn["answer"]:
            assert status is ParseStatus.SEVERAL_ACTIONS
        else:
            assert (status is OK) == (turn["valid"] and turn["format_correct"]), turn["answer"]
