"""Intervals and significance: what must hold of any numbers, and some that are known."""

from __future__ import annotations

import itertools
import math
import time
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvs_ros.benchmark.intervals import Bootstrap, Rate, percentiles
from hvs_ros.benchmark.significance import EXACT_SCENES, mcnemar_p, permutation_p

OUTCOMES = st.lists(st.tuples(st.integers(0, 7), st.booleans()), min_size=1, max_size=60)


def rate_of(scenes: list[str], hits: list[bool], **options: int) -> Rate:
    flags = np.array(hits, dtype=np.bool_)
    return Bootstrap(scenes, **options).rate(np.ones(len(hits), dtype=np.bool_), flags)


@settings(max_examples=60, deadline=None)
@given(OUTCOMES)
def test_an_interval_holds_its_rate(outcomes: list[tuple[int, bool]]) -> None:
    rate = rate_of([f"s{scene}" for scene, _ in outcomes], [hit for _, hit in outcomes], resamples=400)
    assert rate.value is not None and rate.interval is not None
    assert rate.count == sum(hit for _, hit in outcomes) and rate.of == len(outcomes)
    assert 0 <= rate.interval.low <= rate.value <= rate.interval.high <= 1
    assert rate.interval.by_episode[0] <= rate.value <= rate.interval.by_episode[1]
    assert rate.interval.scenes == len({scene for scene, _ in outcomes})


@settings(max_examples=30, deadline=None)
@given(OUTCOMES, st.randoms())
def test_an_interval_does_not_depend_on_the_order(outcomes: list[tuple[int, bool]], shuffled) -> None:  # type: ignore[no-untyped-def]
    other = list(outcomes)
    shuffled.shuffle(other)
    one, two = (
        rate_of([f"s{s}" for s, _ in each], [hit for _, hit in each], resamples=50) for each in (outcomes, other)
    )
    assert one == two


def width(rate: Rate) -> float:
    assert rate.interval is not None
    return rate.interval.high - rate.interval.low


def test_an_interval_shrinks_with_the_number_of_scenes() -> None:
    widths = []
    for scenes in (10, 40, 160):
        draws = np.random.default_rng(1).random(scenes * 4) < 0.4
        widths.append(width(rate_of([f"s{n // 4}" for n in range(scenes * 4)], draws.tolist())))
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


def test_an_interval_is_as_wide_as_theory_says() -> None:
    """Of independent episodes, one a scene: about 1.96 standard errors on either side."""
    hits = [True] * 120 + [False] * 280
    rate = rate_of([f"s{n}" for n in range(400)], hits, resamples=4000)
    assert rate.interval is not None
    expected = 1.96 * math.sqrt(0.3 * 0.7 / 400)
    assert rate.interval.high - 0.3 == pytest.approx(expected, rel=0.08)
    assert 0.3 - rate.interval.low == pytest.approx(expected, rel=0.08)
    assert rate.interval.by_episode == pytest.approx((rate.interval.low, rate.interval.high), abs=0.01)


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Runs over made-up scenes, some easy and some hard: that of single episodes claims far too much."""
    draw = np.random.default_rng(11)
    runs, scenes, each, truth = 150, 30, 16, 0.4
    names = [f"s{n // each}" for n in range(scenes * each)]
    by_scene = by_episode = 0
    for _ in range(runs):
        chances = draw.beta(2 * truth, 2 * (1 - truth), scenes)
        interval = rate_of(names, (draw.random(scenes * each) < chances.repeat(each)).tolist(), resamples=400).interval
        assert interval is not None
        by_scene += interval.low <= truth <= interval.high
        by_episode += interval.by_episode[0] <= truth <= interval.by_episode[1]
    assert by_scene / runs == pytest.approx(0.95, abs=0.045)
    assert by_episode / runs < 0.75


def test_few_scenes_move_the_ends_out_as_students_t_does() -> None:
    """2.262 is the 97.5 % point of Student's t with 9 degrees of freedom."""
    normal = NormalDist()
    assert normal.inv_cdf(percentiles(10)[1] / 100) == pytest.approx(2.262 * math.sqrt(10 / 9), abs=0.001)
    assert normal.inv_cdf(percentiles(5)[1] / 100) == pytest.approx(2.776 * math.sqrt(5 / 4), abs=0.02)
    assert percentiles(100_000) == pytest.approx((2.5, 97.5), abs=1e-3)
    outer = [percentiles(units)[0] for units in (1, 2, 3, 5, 10, 100, 1000)]
    assert outer == sorted(outer) and outer[0] == 0


def test_episodes_of_a_scene_that_go_alike_widen_it() -> None:
    """Ten scenes of forty episodes, each all found or all not: it is ten observations, not four hundred."""
    hits = [n // 40 % 2 == 0 for n in range(400)]
    rate = rate_of([f"s{n // 40}" for n in range(400)], hits)
    assert rate.interval is not None
    alone = rate.interval.by_episode[1] - rate.interval.by_episode[0]
    assert width(rate) > 5 * alone


def test_what_is_not_to_be_relied_on_says_so() -> None:
    doubts = {}
    for scenes in (1, 9, 10, 20):
        rate = rate_of([f"s{n % scenes}" for n in range(40)], [n < 20 for n in range(40)])
        assert rate.interval is not None and rate.interval.reliable == (scenes >= 10)
        doubts[scenes] = rate.interval.doubt
    assert doubts == {1: "one scene only", 9: "only 9 scenes", 10: "", 20: ""}
    same = rate_of([f"s{n}" for n in range(40)], [True] * 40).interval
    assert same is not None and same.doubt == "all episodes alike"


def test_an_empty_group_has_no_rate() -> None:
    assert Bootstrap([]).rate(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.bool_)) == Rate(0, 0)
    assert Rate(0, 0).value is None
    assert rate_of(["a"], [True], resamples=0) == Rate(1, 1), "no interval where none is asked for"


def test_many_scenes_are_drawn_in_pieces_alike() -> None:
    """Thousands of scenes do not fit a matrix of draws; the pieces must be drawn from one stream."""
    scenes = [f"s{n}" for n in range(3000)]
    began = time.process_time()
    rate = rate_of(scenes, [n % 2 == 0 for n in range(3000)])
    assert time.process_time() - began < 5
    assert rate.interval is not None
    assert rate.interval.high - rate.interval.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(3000), rel=0.1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_symmetric_and_a_probability(only_a: int, only_b: int) -> None:
    p = mcnemar_p(only_a, only_b)
    assert p == mcnemar_p(only_b, only_a) and 0 < p <= 1
    if only_a == only_b:
        assert p == 1


@settings(deadline=None)
@given(st.integers(0, 6), st.integers(0, 6))
def test_mcnemar_is_the_share_of_coin_tosses(only_a: int, only_b: int) -> None:
    """All ways in which so many coins can fall, counted one by one."""
    tosses = [sum(coins) for coins in itertools.product((0, 1), repeat=only_a + only_b)]
    middle = (only_a + only_b) / 2
    as_far = sum(abs(heads - middle) >= abs(only_a - middle) for heads in tosses)
    assert mcnemar_p(only_a, only_b) == pytest.approx(as_far / len(tosses))


def test_mcnemar_of_known_tables() -> None:
    assert mcnemar_p(0, 6) == 2 / 64
    assert mcnemar_p(5, 15) == pytest.approx(0.04138947, abs=1e-8)
    assert 0 < mcnemar_p(1000, 3000) < 1e-200, "thousands of episodes neither overflow nor become 0"


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), max_size=8))
def test_swaps_by_scene_are_all_gone_through(differences: list[int]) -> None:
    values = np.array(differences, dtype=np.float64)
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in _signs(len(differences))]
    share = sum(total >= abs(sum(differences)) for total in sums) / len(sums)
    assert permutation_p(values) == pytest.approx(share) == permutation_p(-values)


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=count))


def test_drawn_swaps_come_near_the_exact_ones() -> None:
    draw = np.random.default_rng(3)
    few = draw.integers(-2, 4, EXACT_SCENES).astype(float)
    few[few == 0] = 1
    exact = permutation_p(few)
    assert 0.01 < exact < 0.9
    # Two scenes that cannot matter, so that there are more than are gone through.
    drawn = permutation_p(np.concatenate([few, [1e-12, -1e-12]]))
    assert drawn == pytest.approx(exact, abs=0.03)
    assert permutation_p(np.ones(100)) == 1 / 10000, "never 0"


def test_one_scene_cannot_show_a_difference() -> None:
    """McNemar's test takes its forty episodes for forty; they are one scene."""
    assert mcnemar_p(0, 40) < 1e-11
    assert permutation_p(np.array([40.0])) == 1
