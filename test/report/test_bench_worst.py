"""Which searches a report calls the worst."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench_runs import broken, result

from hvs_ros.angles import Direction
from hvs_ros.report.bench_worst import angle_off_deg, worst_episodes
from hvs_ros.search.scoring import ScoringMode, accepted_pitch_deg, accepted_yaw_deg, score
from hvs_ros.search.task import Target

OBJECT = Target((80.0, 100.0), (-10.0, 10.0))  # accepted: yaw 60 to 120, pitch -20 to 20
PATH = Target((350.0, 10.0))  # accepted: yaw 350 to 10


@pytest.mark.parametrize(
    ("target", "yaw", "pitch", "off"),
    [
        (OBJECT, 90.0, 0.0, 0.0),
        (OBJECT, 125.0, 0.0, 5.0),
        (OBJECT, 90.0, 50.0, 30.0),
        (OBJECT, 90.0, 90.0, 70.0),
        (OBJECT, 300.0, 0.0, 118.02432),  # over the upper or the lower edge, not along the horizon
        (PATH, 30.0, 80.0, 20.0),
        (PATH, 355.0, -60.0, 0.0),
        (PATH, 180.0, 0.0, 170.0),
        (Target((0.0, 360.0), (0.0, 5.0)), 200.0, 40.0, 17.5),
    ],
)
def test_how_far_a_submission_is_off(target: Target, yaw: float, pitch: float, off: float) -> None:
    assert angle_off_deg(target, Direction(yaw, pitch)) == pytest.approx(off, abs=1e-4)


def test_it_is_the_distance_to_the_nearest_accepted_direction() -> None:
    numbers = np.random.default_rng(1)
    for _ in range(40):
        left, low = numbers.uniform(0, 360), numbers.uniform(-80, 60)
        target = Target((left, (left + numbers.uniform(1, 120)) % 360), (low, low + numbers.uniform(1, 20)))
        at = Direction(numbers.uniform(0, 360), numbers.uniform(-90, 90))
        first, last = accepted_yaw_deg(target)
        bottom, top = accepted_pitch_deg(target)
        yaws = np.linspace(first, last if last > first else last + 360, 241)
        nearest = min(at.angle_to_deg(Direction(yaw, pitch)) for yaw in yaws for pitch in np.linspace(bottom, top, 81))
        inside = score(target, at).success
        assert angle_off_deg(target, at) == pytest.approx(0.0 if inside else nearest, abs=0.8)
        assert (angle_off_deg(target, at) == 0.0) == inside


def test_the_farthest_come_first_then_those_without_an_answer() -> None:
    results = [
        result("a", OBJECT, Direction(130.0, 0.0), scene="s1"),
        result("b", OBJECT, None, scene="s2", turns=10),
        result("c", OBJECT, Direction(270.0, 0.0), scene="s3"),
        result("d", OBJECT, Direction(95.0, 5.0), scene="s4"),
        broken(result("e", OBJECT, Direction(270.0, 0.0), scene="s5")),
        result("f", OBJECT, None, scene="s6", turns=3),
        replace(result("g", OBJECT, Direction(270.0, 0.0), scene="s7"), target=None),
    ]
    worst = worst_episodes(results, ScoringMode.PAPER, 10)
    # b looked at 300 at the end, far outside; f at 90, which is right, but it did not say so.
    assert [one.result.episode_id for one in worst] == ["c", "a", "b", "f"]
    assert [one.answered for one in worst] == [True, True, False, False]
    assert [round(one.off_deg) for one in worst] == [144, 10, 118, 0]
    assert [one.result.episode_id for one in worst_episodes(results, ScoringMode.PAPER, 1)] == ["c"]


def test_a_scene_gives_two_at_most_and_ties_go_by_name() -> None:
    results = [result(f"hall/{k}", OBJECT, Direction(270.0, 0.0), scene="hall") for k in (3, 1, 2)]
    results.append(result("shop/0", OBJECT, Direction(125.0, 0.0), scene="shop"))
    worst = worst_episodes(results, ScoringMode.PAPER, 5)
    assert [one.result.episode_id for one in worst] == ["hall/1", "hall/2", "shop/0"]


def test_the_rule_that_counts_says_what_failed() -> None:
    crossing = Target((350.0, 10.0), (-5.0, 5.0))
    results = [result("a", crossing, Direction(0.0, 60.0))]
    assert len(worst_episodes(results, ScoringMode.PAPER, 5)) == 1
    assert worst_episodes(results, ScoringMode.REFERENCE, 5) == []
