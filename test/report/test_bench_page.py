"""The report of a benchmark run says what the analysis found, shows what went wrong, and lets nothing through."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from bench_runs import broken, draw_rooms, made, random_run, report, result
from html_page import Page

from hvs_ros.angles import Direction
from hvs_ros.benchmark.recorded_runs import RecordedRun
from hvs_ros.report.bench_figure import between, percent
from hvs_ros.report.bench_worst import worst_episodes
from hvs_ros.search.scoring import ScoringMode
from hvs_ros.search.task import Target, TaskKind

BAD = "<script>alert(1)</script>\" onload='x' & <b>"
PATH = Target((350.0, 10.0))
FOUND, MISSED = Direction(90.0, 0.0), Direction(200.0, 0.0)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_rooms(tmp_path_factory.mktemp("rooms"))


@pytest.fixture(scope="module")
def run(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    return random_run(dataset, tmp_path_factory.mktemp("run") / "random.jsonl")


def pictures(page: Page) -> list[np.ndarray]:
    """Return the views in a page, decoded."""
    found = []
    for tag, attributes in page.tags:
        address = attributes.get("href") or ""
        if tag == "image" and attributes.get("width") == "400":
            assert address.startswith("data:image/jpeg;base64,")
            data = np.frombuffer(base64.b64decode(address.partition(",")[2]), np.uint8)
            found.append(cv2.imdecode(data, cv2.IMREAD_COLOR))
    return found


def test_it_holds_the_figures_of_the_analysis(run: RecordedRun, dataset: Path, tmp_path: Path) -> None:
    out, analysis = report(run, tmp_path / "new" / "bench.html", dataset)
    page = Page(out)
    for column in analysis.columns:
        if column.success.of:
            assert percent(column.success).removesuffix(" %") in page.text
            assert between(column.success) in page.text
            assert f"{column.success.count}/{column.success.of}" in page.text
    for kind in TaskKind:
        for turn, rate in enumerate(analysis.kinds[kind].cumulative, start=1):
            assert f"turn {turn}: {percent(rate)} ({rate.count}/{rate.of})" in page.text
    for words in (
        "HVS-3B", "0123456789abcdef", "9.8.7", "view: 96x54 instead of 1920x1080", "seed 42", "47.38", "12.04",
        "Success within k turns", "How far off submissions are in yaw", "Submitted against looking", "Way of the head",
        "Time to decide", "Not comparable with the published rows",
    ):  # fmt: skip
        assert words in page.text, words
    assert page.text.count("HVS-3B (SFT only)") == 1


def test_the_worst_searches_are_shown_view_by_view(run: RecordedRun, dataset: Path, tmp_path: Path) -> None:
    out, _ = report(run, tmp_path / "bench.html", dataset, worst=3)
    page = Page(out)
    worst = worst_episodes(run.results, ScoringMode.PAPER, 3)
    assert len(worst) == 3
    views = pictures(page)
    assert len(views) == sum(len(one.result.record.turns) for one in worst)
    assert all(view.shape == (225, 400, 3) and view.std() > 5 for view in views), "something is to be seen in them"
    for one in worst:
        assert one.result.episode_id in page.text and one.result.instruction in page.text
        assert f"wrong direction, {one.off_deg:.1f}° outside" in page.text
    targets = [tag for tag, attributes in page.tags if attributes.get("class") == "v-target"]
    assert len(targets) <= len(views)
    assert "I submit where I look" in page.text


def test_the_page_stays_small(run: RecordedRun, dataset: Path, tmp_path: Path) -> None:
    noisy = tmp_path / "noise"
    for scene in {one.scene for one in run.results}:
        (noisy / scene).mkdir(parents=True)
        noise = np.random.default_rng(0).integers(0, 255, (1024, 2048, 3), np.uint8)
        cv2.imwrite(str(noisy / scene / "noise.png"), noise)
    size = next(noisy.rglob("noise.png")).stat().st_size
    results = [replace(one, panorama=("noise.png", size)) for one in run.results]
    out, _ = report(made(results), tmp_path / "bench.html", noisy, worst=12)
    shown = worst_episodes(results, ScoringMode.PAPER, 12)
    assert len(pictures(Page(out))) == sum(len(one.result.record.turns) for one in shown)
    assert out.stat().st_size < 500_000 * len(shown) + 300_000, "12 strips stay below 6 MB, whatever the pictures"


def test_it_needs_nothing_from_outside_and_lets_nothing_through(tmp_path: Path) -> None:
    results = [
        result(BAD, submitted=MISSED, thought=BAD, instruction=BAD, scene=BAD),
        result("hall/1/0", PATH, FOUND, thought=BAD),
    ]
    hostile = {"policy": BAD, "deviations": [BAD], "facts": {"model": BAD, BAD: BAD}, "versions": {"hvs_ros": BAD}}
    other = made([result(BAD, submitted=FOUND, instruction=BAD, scene=BAD)], policy=BAD)
    analysis = report(other, tmp_path / "other.html")[1]
    out, _ = report(made(results, **hostile), tmp_path / "bench.html", tmp_path / "<b>", against=(other, analysis))
    text = out.read_text()
    assert "<script" not in text and "onload='x'" not in text and BAD not in text
    page = Page(out)
    assert page.text.count(BAD) > 5, "the words are there, as words"
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe", "object", "b onload")
        for key in ("src", "href", "data"):
            assert (attributes.get(key) or "data:").startswith("data:")
        assert not any(key.startswith("on") for key in attributes)
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy is not None and policy.startswith("default-src 'none'")


def test_long_texts_are_cut(tmp_path: Path) -> None:
    out, _ = report(made([result(submitted=MISSED, thought="ab" * 500_000)]), tmp_path / "bench.html")
    assert out.stat().st_size < 200_000
    assert "998,800 more letters" in Page(out).text


def test_plots_are_described_and_do_not_tell_by_colour_alone(run: RecordedRun, tmp_path: Path) -> None:
    out, _ = report(run, tmp_path / "bench.html", worst=0)
    text = out.read_text()
    plots = text.split('<svg class="plot"')[1:]
    assert len(plots) >= 9
    for plot in plots:
        head, _, inside = plot.partition(">")
        assert 'role="img"' in head and inside.startswith("<title>") and "<desc>" in inside
        assert "<desc></desc>" not in plot and "nan" not in plot.partition("</svg>")[0]
    assert 'class="missed s1"' in text and 'id="hatch"' in text


@pytest.mark.parametrize("known", [True, False])
def test_without_the_data_set_the_page_is_made(run: RecordedRun, tmp_path: Path, known: bool) -> None:
    out, _ = report(run, tmp_path / "bench.html", tmp_path / "gone" if known else None, worst=2)
    page = Page(out)
    assert pictures(page) == []
    words = f"is not in {tmp_path / 'gone'}" if known else "give --dataset DIR"
    assert page.text.count(words) == 2 and "I turn at random." in page.text


def test_another_picture_of_that_name_is_not_shown(run: RecordedRun, dataset: Path, tmp_path: Path) -> None:
    worst = worst_episodes(run.results, ScoringMode.PAPER, 1)[0].result
    name, size = worst.panorama
    out, _ = report(made([replace(worst, panorama=(name, size + 1))]), tmp_path / "bench.html", dataset)
    page = Page(out)
    assert pictures(page) == [] and "another picture now" in page.text


def test_no_picture_is_taken_from_outside_the_data_set(run: RecordedRun, dataset: Path, tmp_path: Path) -> None:
    worst = worst_episodes(run.results, ScoringMode.PAPER, 1)[0].result
    (tmp_path / "empty").mkdir()
    for scene in (f"../{dataset.name}/{worst.scene}", str(dataset / worst.scene)):
        out, _ = report(made([replace(worst, scene=scene)]), tmp_path / "bench.html", tmp_path / "empty")
        assert pictures(Page(out)) == []


def test_a_split_may_be_named_itself(run: RecordedRun, dataset: Path, tmp_path: Path) -> None:
    worst = worst_episodes(run.results, ScoringMode.PAPER, 1)[0].result
    out, _ = report(made([worst]), tmp_path / "bench.html", dataset / worst.scene.partition("/")[0])
    assert len(pictures(Page(out))) == len(worst.record.turns)


def test_no_episode(tmp_path: Path) -> None:
    for results in ([], [broken(result())]):
        out, _ = report(made(results), tmp_path / "bench.html")
        page = Page(out)
        assert "No search was completed" in page.text and "No search was scored" in page.text
    assert "1 policy failed" in page.text


def test_nothing_failed(tmp_path: Path) -> None:
    results = [result(f"hall/0/{start}", submitted=FOUND) for start in (0, 90)]
    page = Page(report(made(results), tmp_path / "bench.html")[0])
    assert "Every scored search succeeded." in page.text and "100.0 %" in page.text


@pytest.mark.parametrize(("target", "there", "missing"), [
    (None, "Object search", "path all"), (PATH, "Path search", "object all"),
])  # fmt: skip
def test_one_kind_alone(tmp_path: Path, target: Target | None, there: str, missing: str) -> None:
    results = [result("hall/0/0", target, FOUND), result("hall/0/90", target, MISSED, scene="shop")]
    page = Page(report(made(results), tmp_path / "bench.html")[0])
    assert there in page.text and missing not in page.text
    assert "nan" not in page.text


def test_a_run_of_hvs_sim_without_protocol_or_camera(tmp_path: Path) -> None:
    run = RecordedRun(Path("sim.jsonl"), {"policy": "signs"}, (result(submitted=MISSED),))
    page = Page(report(run, tmp_path / "bench.html", tmp_path)[0])
    assert "no protocol of the benchmark" in page.text and "hold no camera" in page.text


def test_two_runs_beside_each_other(run: RecordedRun, tmp_path: Path) -> None:
    better = [replace(one, submitted=None, record=replace(one.record, submitted=None)) for one in run.results]
    other = RecordedRun(Path("other.jsonl"), {**run.settings, "facts": {"model": "Other-7B"}}, tuple(better))
    analysis = report(other, tmp_path / "o.html")[1]
    out, own = report(run, tmp_path / "bench.html", against=(other, analysis), worst=0)
    page, text = Page(out), out.read_text()
    assert "Against random, Other-7B, episode by episode" in page.text
    assert 'class="curve s2"' in text and 'class="outline s2"' in text and 'class="own s2"' in text
    assert f"{own.total.success.count} episodes that one of them found" in page.text
    strangers = RecordedRun(Path("x.jsonl"), run.settings, (result("elsewhere/0/0", submitted=FOUND),))
    out, _ = report(run, tmp_path / "bench.html", against=(strangers, report(strangers, tmp_path / "o.html")[1]))
    assert "no episode in common" in Page(out).text
