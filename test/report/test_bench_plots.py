"""What plots are made of: values land where they belong, and bars add up to what they show."""

from __future__ import annotations

import re

import pytest
from bench_runs import made, result

from hvs_ros.angles import Direction
from hvs_ros.benchmark.analysis import analyse
from hvs_ros.report.bench_axes import Axis, Plot, nice_step
from hvs_ros.report.bench_errors import mismatch, yaw_errors
from hvs_ros.report.bench_figure import Drawn, Numbers
from hvs_ros.report.bench_histogram import Histogram, Part, even_edges, share_axis
from hvs_ros.report.bench_success import cumulative
from hvs_ros.search.scoring import ScoringMode

X = Axis(0.0, 10.0, (0.0, 5.0, 10.0), "x, degrees")


def bars(svg: str, kind: str) -> list[tuple[float, float, float, float]]:
    """Return x, y, width and height of the bars of a kind."""
    found = re.findall(rf'<rect class="{kind}" x="([\d.-]+)" y="([\d.-]+)" width="([\d.-]+)" height="([\d.-]+)"', svg)
    return [tuple(map(float, one)) for one in found]  # type: ignore[misc]


def drawn(*directions: Direction | None) -> Drawn:
    results = [result(f"hall/0/{k}", submitted=at) for k, at in enumerate(directions)]
    return Drawn("a run", analyse(results, ScoringMode.PAPER, resamples=0), made(results).results)


def test_values_lie_where_the_axes_say() -> None:
    plot = Plot(X, Axis(-1.0, 1.0, (-1.0, 1.0), "y"), 200.0, 100.0, left=20.0, top=10.0, right=30.0, bottom=40.0)
    assert plot.at(0.0, -1.0) == (20.0, 60.0)
    assert plot.at(10.0, 1.0) == (170.0, 10.0)
    assert plot.at(5.0, 0.0) == (95.0, 35.0)
    for words in ("x, degrees", ">y<", ">5<", ">-1<"):
        assert words in plot.frame()


@pytest.mark.parametrize("rough", [0.003, 0.9, 1.0, 1.1, 4.0, 73.0, 5001.0])
def test_steps_are_round(rough: float) -> None:
    step = nice_step(rough)
    assert rough <= step <= 2.5 * rough + 1e-9
    assert f"{step:e}"[0] in "125" and float(f"{step:.0e}") == pytest.approx(step)


@pytest.mark.parametrize("most", [0.0, 1.0, 3.0, 17.0, 4000.0])
def test_axes_reach_the_most_there_is(most: float) -> None:
    assert even_edges(most)[-1] >= most
    share = min(most, 1.0)
    assert share <= share_axis(share, "").high <= max(0.05, 1.6 * share)


def test_bars_are_shares_and_stack() -> None:
    histogram = Histogram("h", X, [0.0, 5.0, 10.0], "degrees", "searches")
    svg = histogram.draw([Part("column s1", "found", [1.0, 2.0, 5.0]), Part("missed s1", "missed", [-3.0])])
    (low, high), (missed,) = bars(svg, "column s1"), bars(svg, "missed s1")
    assert low[3] == pytest.approx(2 * high[3], abs=0.02), "an edge belongs to the bin above it"
    assert missed[3] == pytest.approx(high[3], abs=0.02)
    assert missed[1] + missed[3] == pytest.approx(low[1], abs=0.1), "it stands on the other"
    for words in (
        "0 to 5 degrees, found: 2 of 4",
        "5 to 10 degrees, found: 1 of 4",
        "missed: 1 of 4",
        "0 to 5 degrees: 3 of 4",
    ):
        assert words in svg
    assert "of 0" not in histogram.draw([Part("column s1", "found", [])])


def test_another_run_is_an_outline_of_its_own_shares() -> None:
    histogram = Histogram("h", X, [0.0, 5.0, 10.0], "degrees", "searches")
    svg = histogram.draw([Part("column s1", "found", [1.0])], other=[7.0, 8.0])
    (column,) = bars(svg, "column s1")
    line = re.search(r'class="outline s2" d="([^"]+)"', svg)
    assert line is not None
    heights = [float(y) for _, y in re.findall(r"[ML]([\d.]+),([\d.]+)", line.group(1))]
    assert min(heights) == pytest.approx(column[1], abs=0.1), "all of one run below, all of the other above"


def test_yaw_errors_are_told_apart_by_what_became_of_them() -> None:
    figure = yaw_errors([drawn(Direction(100.0, 0.0), Direction(100.0, 60.0), Direction(300.0, 0.0), None)])
    ((_, svg),) = figure.panels
    assert "10 to 20 degrees, found: 1 of 3" in svg and "10 to 20 degrees, missed: 1 of 3" in svg
    assert "-150 to -140 degrees, missed: 1 of 3" in svg
    assert isinstance(figure.numbers, Numbers) and figure.numbers.rows[0][1] == "3"


def test_success_within_k_turns_goes_up_to_the_success_rate() -> None:
    figure = cumulative([drawn(Direction(90.0, 0.0), Direction(300.0, 0.0))])
    ((_, svg),) = figure.panels
    assert "turn 1: 0.0 % (0/2)" in svg and "turn 2: 50.0 % (1/2)" in svg and "turn 10: 50.0 % (1/2)" in svg
    assert 'class="band s1"' not in svg, "without intervals there is no band"


def test_submissions_are_compared_with_the_line_of_sight() -> None:
    (_, svg), *_ = mismatch([drawn(Direction(30.0, 0.5), Direction(37.0, 0.0), Direction(210.0, 0.0), None)]).panels
    for words in ("0 to 1 degrees, submissions: 1 of 3", "5 to 10 degrees", "90 to 180 degrees, submissions: 1 of 3"):
        assert words in svg
