"""What the figures of a run are: each against numbers worked out by hand."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from results_builders import OBJECT, PATH, broken, many, result

from hvs_ros.angles import Direction
from hvs_ros.benchmark.accuracy import off_deg
from hvs_ros.benchmark.analysis import analyse, analyse_group
from hvs_ros.benchmark.effort import detour, shortest_way_deg
from hvs_ros.search.decision import ParseStatus
from hvs_ros.search.episode import Outcome
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import Target, TaskKind

PAPER = ScoringMode.PAPER


def test_columns_are_those_of_the_paper() -> None:
    results = [
        result("a/0/0", level=0),
        result("a/1/0", level=0, found=False),
        result("b/0/0", level=2, found=None, turns=10),
        result("b/1/0", target=PATH, level=3),
        broken("b/2/0", level=1),
    ]
    analysis = analyse(results, PAPER)
    columns = [(c.kind.value, c.name, c.success.count, c.success.of) for c in analysis.columns]
    assert columns == [
        ("object", "overall", 1, 3),
        ("object", "easy", 1, 2),
        ("object", "medium", 0, 0),
        ("object", "hard", 0, 1),
        ("path", "overall", 1, 1),
        ("path", "easy", 0, 0),
        ("path", "medium", 0, 0),
        ("path", "hard", 0, 0),
        ("path", "extreme", 1, 1),
    ]
    medium = analysis.column(TaskKind.OBJECT, 1).success
    assert medium.value is None and medium.interval is None, "a machinery's failure is no failed search"
    assert analysis.column(TaskKind.OBJECT).success == analysis.kinds[TaskKind.OBJECT].success


def test_what_did_not_complete_is_counted_apart() -> None:
    results = [
        result("a/0/0"),
        result("a/1/0", attempts=3),
        result("a/2/0", found=None, turns=10),
        broken("a/3/0", Outcome.HEAD_FAILED),
        broken("a/4/0", Outcome.VIEW_TIMEOUT),
        broken("a/5/0", Outcome.VIEW_TIMEOUT),
        result("c/0/0", target=None),
    ]
    counts = analyse(results, PAPER).total.counts
    assert (counts.episodes, counts.completed, counts.scored) == (7, 4, 3)
    assert (counts.submitted, counts.exhausted, counts.retried, counts.scenes) == (3, 1, 1, 2)
    assert list(counts.failed.items()) == [("view timeout", 2), ("head failed", 1)]


def test_success_by_turn_is_of_all_scored_episodes() -> None:
    results = [
        result("a/0/0", turns=2),
        result("a/1/0", turns=5),
        result("a/2/0", turns=1, found=False),
        result("a/3/0", turns=10, found=None),
    ]
    group = analyse(results, PAPER).total
    assert [rate.count for rate in group.cumulative] == [0, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    assert {rate.of for rate in group.cumulative} == {4}
    assert group.turn_counts == (1, 1, 0, 0, 1, 0, 0, 0, 0, 1)
    assert (group.turns.mean, group.turns.median) == (4.5, 3.5)
    longer = analyse([result("a/0/0", turns=12)], PAPER).total
    assert len(longer.cumulative) == 12 and longer.cumulative[-1].count == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_success_by_turn_rises_to_success(seed: int, chance: float) -> None:
    group = analyse_group(many(seed, scenes=4, chance=chance), PAPER)
    counts = [rate.count for rate in group.cumulative]
    assert counts == sorted(counts) and group.cumulative[-1] == group.success
    assert sum(group.turn_counts) == group.counts.completed


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_results_changes_nothing(seed: int) -> None:
    results = many(seed)
    shuffled = random.Random(seed).sample(results, len(results))
    assert analyse(results, PAPER, resamples=100).to_json() == analyse(shuffled, PAPER, resamples=100).to_json()


def test_levels_and_kinds_add_up() -> None:
    analysis = analyse(many(5), PAPER)
    for kind in TaskKind:
        overall = analysis.column(kind).success
        levels = [column.success for column in analysis.columns if column.kind is kind and column.level is not None]
        assert (overall.count, overall.of) == (sum(r.count for r in levels), sum(r.of for r in levels))
    assert analysis.total.success.of == sum(group.success.of for group in analysis.kinds.values()) > 30


def test_the_rule_that_is_asked_for_decides() -> None:
    """A box around yaw 0: the published code does not look at the pitch there."""
    target = Target((350.0, 10.0), (-10.0, 10.0))
    odd = result(target=target)
    assert odd.submitted is not None
    odd = replace(odd, submitted=replace(odd.submitted, success={PAPER: False, ScoringMode.REFERENCE: True}))
    assert [analyse([odd], mode).total.success.count for mode in (PAPER, ScoringMode.REFERENCE)] == [0, 1]


def test_errors_are_signed_and_of_submissions_only() -> None:
    def said(yaw_deg: float, pitch_deg: float, name: str, target: Target = OBJECT):  # type: ignore[no-untyped-def]
        from hvs_ros.benchmark.result import Judgement

        made = result(name, target=target)
        direction = Direction(yaw_deg, pitch_deg)
        return replace(
            made, record=replace(made.record, submitted=direction), submitted=Judgement.of(target, direction)
        )

    results = [
        said(93, 0, "a/0/0"),
        said(83, 0, "a/1/0"),
        said(90, 12, "a/2/0"),
        said(346, -60, "a/3/0", PATH),
        result("a/4/0", found=None, turns=10),
    ]
    errors = analyse(results, PAPER).total.errors
    assert (errors.yaw_deg.count, errors.yaw_deg.low, errors.yaw_deg.high) == (4, -14.0, 3.0)
    assert (errors.pitch_deg.count, errors.pitch_deg.high) == (3, 12.0), "a path has no pitch"
    assert errors.off_deg.high == pytest.approx(14.0), "of a path the yaw alone"
    assert {limit: rate.count for limit, rate in errors.within.items()} == {5: 1, 10: 2, 15: 4, 30: 4, 60: 4}
    assert {rate.of for rate in errors.within.values()} == {4}


def test_success_by_the_angle_to_the_target() -> None:
    results = [result(f"a/0/{start}", start=start, found=start != 180) for start in (90.0, 45.0, 0.0, 180.0, 270.0)]
    counted = [(b.low_deg, b.high_deg, b.success.count, b.success.of) for b in analyse(results, PAPER).total.by_angle]
    assert counted == [
        (0, 30, 1, 1),
        (30, 60, 1, 1),
        (60, 90, 0, 0),
        (90, 120, 1, 2),
        (120, 150, 0, 0),
        (150, 180, 1, 1),
    ]


def test_submitted_and_looking_are_told_apart() -> None:
    results = [
        result("a/0/0", turns=3),  # looks at 90, says 90
        result("a/1/0", turns=1),  # looks at 0, says 90
        result("a/2/0", turns=3, found=False),  # looks at 90, says 270
        result("a/3/0", turns=10, found=None),
    ]
    mismatch = analyse(results, PAPER).total.mismatch
    assert (mismatch.angle_deg.count, mismatch.angle_deg.low, mismatch.angle_deg.high) == (3, 0.0, 180.0)
    assert {limit: (rate.count, rate.of) for limit, rate in mismatch.over.items()} == {5: (2, 3), 30: (2, 3)}
    assert (mismatch.looking.count, mismatch.looking.of) == (2, 4)
    assert (mismatch.only_submitted, mismatch.only_looking) == (1, 1)


@pytest.mark.parametrize(
    ("target", "start", "expected"),
    [
        (OBJECT, Direction(0, 0), 80.0),
        (OBJECT, Direction(180, 0), 80.0),
        (OBJECT, Direction(85, 0), 0.0),
        (OBJECT, Direction(90, 50), 40.0),
        (OBJECT, Direction(90, -30), 20.0),
        (PATH, Direction(180, 0), 170.0),
        (PATH, Direction(5, 60), 0.0),
        (Target((350.0, 10.0), (-10.0, 10.0)), Direction(20, 0), 10.0),
        (Target((0.0, 360.0), (20.0, 30.0)), Direction(123, 0), 20.0),
    ],
)
def test_the_shortest_way_to_a_target(target: Target, start: Direction, expected: float) -> None:
    assert shortest_way_deg(target, start) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 359), st.floats(0, 120), st.floats(-80, 60), st.floats(0, 20), st.floats(-89, 89))
def test_no_point_of_the_box_is_nearer(left: float, width: float, low: float, height: float, pitch: float) -> None:
    target = Target((left, (left + width) % 360), (low, low + height))
    start = Direction(0.0, pitch)
    shortest = shortest_way_deg(target, start)
    steps = [n / 24 for n in range(25)]
    angles = [start.angle_to_deg(Direction(left + width * x, low + height * y)) for x in steps for y in steps]
    assert shortest <= min(angles) + 1e-5
    assert shortest >= min(angles) - max(width, height, 1) / 24 * 1.5
    assert shortest <= off_deg(target, start) + 1e-3


def test_the_way_of_the_head_against_the_shortest() -> None:
    straight, there_and_back = result("a/0/0", turns=3), result("a/1/0", turns=6, step=36.0)
    inside = result("a/2/90", start=90.0)
    assert detour(straight) == pytest.approx(90 / 80) and detour(there_and_back) == pytest.approx(180 / 80)
    assert detour(inside) is None, "no way, no multiple of it"
    group = analyse([straight, there_and_back, inside, result("a/3/0", turns=5, found=False)], PAPER).total
    assert (group.detour.count, group.detour_found.count) == (3, 2)
    assert group.detour_found.mean == pytest.approx(135 / 80)
    assert group.travel_deg.mean == pytest.approx((90 + 180 + 45 + 180) / 4)


def test_answers_latency_and_tokens_are_by_turn() -> None:
    good, bad = result("a/0/0", turns=3), result("a/1/0", turns=2)
    first = replace(
        bad.record.turns[0], action=None, status=ParseStatus.BAD_ACTION, raw="<think>So.</think><answer>left</answer>"
    )
    bad = replace(bad, record=replace(bad.record, turns=(first, *bad.record.turns[1:])))
    group = analyse([good, bad, broken("a/2/0")], PAPER).total
    assert dict(group.answers.statuses) == {"ok": 4, "bad action": 1}
    assert (group.answers.valid.count, group.answers.valid.of) == (4, 5)
    assert (group.answers.well_formed.count, group.answers.well_formed.of) == (1, 5)
    assert (group.latency.think_s.count, group.latency.think_s.median, group.latency.turn_s.p95) == (5, 0.5, 1.0)
    assert (group.latency.episode_s.median, group.tokens.prompt_total, group.tokens.image.mean) == (2.5, 7500, 300.0)


def test_nothing_has_no_figure_and_is_no_error() -> None:
    for results in ([], [broken("a/0/0")], [result("a/0/0", target=None)]):
        analysis = analyse(results, PAPER)
        assert analysis.total.success.value is None and analysis.total.cumulative[-1].value is None
        assert all(b.success.value is None for b in analysis.total.by_angle)
        json.dumps(analysis.to_json(), allow_nan=False)
    assert analyse([], PAPER).total.turns.mean is None


def test_figures_as_json() -> None:
    values = json.loads(json.dumps(analyse(many(1), PAPER).to_json(), allow_nan=False))
    assert values["mode"] == "paper" and set(values["kinds"]) == {"object", "path"}
    overall = values["columns"][0]
    assert (overall["kind"], overall["name"]) == ("object", "overall")
    assert overall["success"]["rate"] == pytest.approx(overall["success"]["count"] / overall["success"]["of"])
    assert overall["success"]["interval"]["low"] <= overall["success"]["rate"]
    assert list(values["total"]["errors"]["within"]) == ["5", "10", "15", "30", "60"]


def test_the_whole_benchmark_takes_a_moment() -> None:
    some = many(2, scenes=25, each=16)
    results = [
        replace(each, scene=f"{each.scene}{n}", episode_id=f"{n}{each.episode_id}") for n in range(10) for each in some
    ]
    began = time.process_time()
    without = analyse(results, PAPER, resamples=0)
    between = time.process_time()
    analyse(results, PAPER)
    assert without.total.counts.episodes == 4000
    assert (time.process_time() - between) - (between - began) < 2, "intervals of the whole table"
