"""What a policy may answer, and what is refused or put right before it goes anywhere."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from hvs_ros.search.action import ActionError, OutOfRangeError, Rotate, Submit
from hvs_ros.search.decision import Decision, ParseStatus, Usage


@pytest.mark.parametrize("make", [Rotate, Submit])
def test_numpys_numbers_become_plain_ones(make: Any) -> None:
    action = make(np.float32(10.5), np.int64(-3))
    assert json.dumps(vars(action)) and list(vars(action).values()) == [10.5, -3.0]


@pytest.mark.parametrize("make", [Rotate, Submit])
@pytest.mark.parametrize("angle", ["10", None, [1.0], np.array([1.0]), math.nan, -math.inf])
def test_what_is_no_angle(make: Any, angle: object) -> None:
    with pytest.raises(ActionError, match=r"dpitch|pitch") as refusal:
        make(0.0, angle)
    assert not isinstance(refusal.value, OutOfRangeError)


@pytest.mark.parametrize("angle", [3600.1, -1e300, 10**400, np.float32(1e9)])
def test_angles_beyond_sense(angle: float) -> None:
    with pytest.raises(OutOfRangeError, match="beyond"):
        Rotate(angle, 0.0)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"action": "rotate left"}, "the action is 'rotate left'"),
        ({"action": (10, 0)}, "the action"),
        ({"action": Rotate(1, 1), "thought": 123}, "thought is 123"),
        ({"action": Rotate(1, 1), "thought": None}, "thought is None"),
        ({"action": Rotate(1, 1), "raw": b"rotate"}, "raw is b'rotate'"),
        ({"action": None, "status": "nope"}, "the status is 'nope'"),
        ({"action": Rotate(1, 1), "usage": {"prompt_tokens": 1}}, "the usage"),
    ],
)
def test_a_decision_of_the_wrong_kind_is_refused_by_name(values: dict[str, Any], named: str) -> None:
    with pytest.raises(TypeError, match=named):
        Decision(**values)


@pytest.mark.parametrize("count", ["many", -1, 2**31, 1.5])
def test_a_count_that_is_none(count: Any) -> None:
    with pytest.raises(ValueError, match="completion_tokens"):
        Usage(completion_tokens=count)


def test_numpys_counts_and_truths_become_plain_ones() -> None:
    decision = Decision(Submit(1, 2), guess=np.bool_(True), usage=Usage(np.int64(5)))
    assert decision.guess is True and json.dumps(vars(decision.usage))


def test_what_cannot_be_written_as_text_is_replaced() -> None:
    decision = Decision(None, thought="a\ud800b\0c \u263a", raw="\0", status=ParseStatus.NO_ANSWER)
    assert decision.thought == "a\ufffdb\ufffdc \u263a" and decision.raw == "\ufffd"
    decision.thought.encode()
