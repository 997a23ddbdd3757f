from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.angles import Direction, wrap_yaw_deg, yaw_difference_deg
from hvs_ros.search.scoring import (
    PITCH_TOLERANCE_DEG,
    YAW_TOLERANCE_DEG,
    ScoringMode,
    accepted_pitch_deg,
    accepted_yaw_deg,
    difficulty,
    score,
)
from hvs_ros.search.task import Target, TaskKind

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "hstar_scoring.json"

yaws = st.floats(0, 359.999)
pitches = st.floats(-90, 90)


def boxes() -> st.SearchStrategy[Target]:
    pitch = st.tuples(pitches, pitches).map(lambda pair: (min(pair), max(pair)))
    return st.builds(Target, st.tuples(yaws, yaws), st.none() | pitch)


def target_of(item: dict[str, Any]) -> Target:
    left, right = item["yaw"]
    pitch = item.get("pitch")
    return Target((float(left), float(right)), None if pitch is None else (float(pitch[0]), float(pitch[1])))


@pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is not there")
@pytest.mark.parametrize("mode", list(ScoringMode))
def test_all_reference_decisions_agree(mode: ScoringMode) -> None:
    decisions = json.loads(REFERENCE.read_text())
    assert len(decisions) == 720
    wrong = [
        decision
        for decision in decisions
        if score(target_of(decision["item"]), Direction(*decision["submit"]), mode).success
        != decision[f"{mode.value}_success"]
    ]
    assert not wrong


def test_the_two_rules_differ_only_where_the_widened_interval_crosses_zero() -> None:
    crossing = Target((350.0, 20.0), (-5.0, 5.0))
    high = Direction(5.0, 60.0)
    assert not score(crossing, high).success
    assert score(crossing, high, ScoringMode.REFERENCE).success
    elsewhere = Target((90.0, 120.0), (-5.0, 5.0))
    for mode in ScoringMode:
        assert not score(elsewhere, Direction(100.0, 60.0), mode).success


@pytest.mark.parametrize("mode", list(ScoringMode))
@given(target=boxes())
def test_the_centre_always_succeeds(mode: ScoringMode, target: Target) -> None:
    verdict = score(target, target.center, mode)
    # Where the box is the whole circle, the published code may cut it anywhere.
    assert verdict.success or (mode is ScoringMode.REFERENCE and target.width_deg > 300)
    assert abs(verdict.yaw_error_deg) < 1e-9


@given(target=boxes(), yaw=yaws, pitch=pitches, turns=st.integers(-3, 3))
def test_a_whole_turn_changes_nothing(target: Target, yaw: float, pitch: float, turns: int) -> None:
    half = max(target.width_deg / 2, YAW_TOLERANCE_DEG[target.kind])
    one, other = Direction(yaw, pitch), Direction(yaw + 360.0 * turns, pitch)
    if abs(abs(score(target, one).yaw_error_deg) - half) > 1e-6:
        assert score(target, one).success == score(target, other).success


@given(target=boxes(), yaw=yaws, pitch=pitches)
def test_success_is_being_in_the_accepted_interval(target: Target, yaw: float, pitch: float) -> None:
    verdict = score(target, Direction(yaw, pitch))
    half = max(target.width_deg / 2, YAW_TOLERANCE_DEG[target.kind])
    if abs(abs(verdict.yaw_error_deg) - half) < 1e-3:
        return
    left, right = accepted_yaw_deg(target)
    low, high = accepted_pitch_deg(target)
    if min(abs(pitch - low), abs(pitch - high)) < 1e-3:
        return
    within = half >= 180 or wrap_yaw_deg(yaw - left) <= wrap_yaw_deg(right - left)
    assert verdict.success == (within and low <= pitch <= high)


@given(yaw=yaws, off=st.floats(-179, 179))
def test_a_path_ignores_the_pitch_and_is_stricter_in_yaw(yaw: float, off: float) -> None:
    path, seen = Target((yaw, yaw)), Target((yaw, yaw), (0.0, 0.0))
    where = Direction(wrap_yaw_deg(yaw + off), 89.0)
    if abs(abs(off) - 10.0) > 1e-3:
        assert score(path, where).success == (abs(off) < 10.0)
    assert not score(seen, where).success
    assert score(path, where).pitch_error_deg is None


def test_tolerances_are_the_papers() -> None:
    assert YAW_TOLERANCE_DEG == {TaskKind.OBJECT: 30.0, TaskKind.PATH: 10.0} and PITCH_TOLERANCE_DEG == 20.0


@given(center=yaws, width=st.floats(0, 120), error=st.floats(-170, 170))
def test_errors_are_the_shortest_way_right_and_up_positive(center: float, width: float, error: float) -> None:
    target = Target((wrap_yaw_deg(center - width / 2), wrap_yaw_deg(center + width / 2)), (-10.0, 30.0))
    verdict = score(target, Direction(center + error, 15.0))
    assert yaw_difference_deg(verdict.yaw_error_deg, error) == pytest.approx(0.0, abs=1e-6)
    assert verdict.pitch_error_deg == pytest.approx(5.0)


def test_difficulty_from_what_the_first_view_shows() -> None:
    assert [difficulty(TaskKind.OBJECT, part) for part in (1.0, 0.5, 0.2, 0.0)] == [0, 0, 1, 2]
    assert [difficulty(TaskKind.PATH, part) for part in (1.0, 0.5, 0.2, 0.0)] == [0, 0, 1, 1]
