"""Parts of a run joined: the same file however it was parted, and nothing joined that does not belong together."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from results_builders import SETTINGS, broken, many, result, written

from hvs_ros.benchmark.merge import merge
from hvs_ros.benchmark.natural_order import natural_order
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile, read_results
from hvs_ros.benchmark.settings import RunSettings

WHOLE = many(7, scenes=5, each=5)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=len(WHOLE), max_size=len(WHOLE)), st.permutations(range(4)))
def test_any_partition_in_any_order_is_the_whole(places: list[int], order: list[int]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = [
            written(folder / f"part{part}.jsonl", [r for r, place in zip(WHOLE, places, strict=True) if place == part])
            for part in range(4)
        ]
        merged = merge([parts[part] for part in order], folder / "merged.jsonl")
        whole = merge([written(folder / "whole.jsonl", WHOLE)], folder / "expected.jsonl")
        assert merged.path.read_bytes() == whole.path.read_bytes()
        assert (merged.episodes, merged.shared) == (len(WHOLE), 0)
        assert merged.incomplete == sum(not each.completed for each in WHOLE) > 0
        twice = merge([merge(parts[:2], folder / "half.jsonl").path, *parts[2:]], folder / "twice.jsonl")
        assert twice.path.read_bytes() == whole.path.read_bytes(), "a merged file may be merged again"


def test_the_new_file_is_a_results_file_in_the_order_of_ids(tmp_path: Path) -> None:
    names = ["b/0/0", "a/10/0", "a/2/180", "a/2/90"]
    parts = [written(tmp_path / f"{n}.jsonl", [result(name)]) for n, name in enumerate(names)]
    out = merge(parts, tmp_path / "new" / "all.jsonl").path
    read, results = read_results(out)
    assert list(results) == ["a/2/90", "a/2/180", "a/10/0", "b/0/0"]
    assert read == SETTINGS.to_json() and results["b/0/0"] == result("b/0/0")
    with ResultsFile.resume(out, SETTINGS) as file:
        assert set(file.results) == set(names), "and it can be continued"


def test_an_incomplete_episode_yields_to_a_complete_one(tmp_path: Path) -> None:
    parts = [
        written(tmp_path / "a.jsonl", [broken("a/0/0"), result("a/1/0")]),
        written(tmp_path / "b.jsonl", [result("a/0/0"), broken("a/1/0"), broken("a/2/0")]),
    ]
    merged = merge(parts, tmp_path / "all.jsonl")
    assert (merged.episodes, merged.incomplete, merged.shared) == (3, 1, 2)
    assert [each.completed for each in read_results(merged.path)[1].values()] == [True, True, False]


def test_the_same_episode_with_other_durations_agrees(tmp_path: Path) -> None:
    early = result("a/0/0", ended="2026-03-01T09:00:00+0000", seconds=9.0, attempts=2)
    late = result("a/0/0")
    parts = [written(tmp_path / "late.jsonl", [late]), written(tmp_path / "early.jsonl", [early])]
    for number, order in enumerate(itertools.permutations(parts)):
        merged = merge(order, tmp_path / f"{number}.jsonl")
        assert merged.shared == 1 and list(read_results(merged.path)[1].values()) == [early]


def test_the_same_episode_with_other_answers_is_refused(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", [result("a/0/0"), result("a/1/0")])
    two = written(tmp_path / "two.jsonl", [result("a/0/0", turns=3), result("a/1/0", found=False)])
    with pytest.raises(ResultsError, match=r"a/0/0 in .*one.jsonl and .*two.jsonl \(looking, .*turns, travel_deg\)"):
        merge([two, one], tmp_path / "all.jsonl")
    assert not (tmp_path / "all.jsonl").exists()


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", [result("a/0/0")])
    two = written(tmp_path / "two.jsonl", [result("b/0/0")], replace(SETTINGS, max_turns=5))
    with pytest.raises(ResultsError, match=r"different settings .*max_turns: was not set, is 5 now"):
        merge([one, two], tmp_path / "all.jsonl")


def test_notes_of_the_parts_are_kept_and_not_compared(tmp_path: Path) -> None:
    def noted(name: str, **notes: object) -> Path:
        return written(tmp_path / f"{name}.jsonl", [result(f"{name}/0/0")], SETTINGS.with_notes(notes))

    parts = [noted("b", host="beta", gpu=["H200"]), noted("a", host="alpha", gpu=["H200"]), noted("c", host="beta")]
    for number, order in enumerate(itertools.permutations(parts)):
        out = merge(order, tmp_path / f"all{number}.jsonl").path
        assert out.read_bytes() == (tmp_path / "all0.jsonl").read_bytes()
    assert read_results(out)[0]["notes"] == {"gpu": ["H200"], "host": ["alpha", "beta"]}


def test_settings_that_are_equal_but_written_otherwise(tmp_path: Path) -> None:
    settings = [RunSettings("p", {"temperature": 0, "views": 5}), RunSettings("p", {"views": 5, "temperature": 0.0})]
    parts = [written(tmp_path / f"{n}.jsonl", [result(f"a/{n}/0")], each) for n, each in enumerate(settings)]
    there, back = merge(parts, tmp_path / "there.jsonl"), merge(parts[::-1], tmp_path / "back.jsonl")
    assert there.path.read_bytes() == back.path.read_bytes()


def test_bags_are_found_from_the_new_file(tmp_path: Path) -> None:
    shard = tmp_path / "shards" / "one"
    recorded = result("a/0/0")
    recorded = replace(recorded, record=replace(recorded.record, bag=shard / "episode_1"))
    part = written(shard / "r.jsonl", [recorded])
    for out in (tmp_path / "all.jsonl", tmp_path / "elsewhere" / "all.jsonl"):
        (held,) = read_results(merge([part], out).path)[1].values()
        assert held.record.bag == shard / "episode_1"


def test_a_file_named_twice_counts_once_and_no_file_is_overwritten(tmp_path: Path) -> None:
    part = written(tmp_path / "a.jsonl", [result("a/0/0")])
    merged = merge([part, part, tmp_path / "." / "a.jsonl"], tmp_path / "all.jsonl")
    assert (merged.episodes, merged.shared) == (1, 0)
    before = part.read_bytes()
    for out in (part, merged.path):
        with pytest.raises(ResultsError, match="is there already"):
            merge([part], out)
    assert part.read_bytes() == before
    with pytest.raises(ResultsError, match="cannot be written"):
        merge([part], part / "all.jsonl")


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    part = written(tmp_path / "a.jsonl", [result("a/0/0"), result("a/1/0")])
    part.write_bytes(part.read_bytes()[:-20])
    assert merge([part], tmp_path / "all.jsonl").episodes == 1


@given(st.lists(st.text("ab/0123456789", max_size=8)))
def test_ids_have_one_order(names: list[str]) -> None:
    ordered = sorted(set(names), key=natural_order)
    assert ordered == sorted(ordered[::-1], key=natural_order)
    assert len({str(natural_order(name)) for name in names}) == len(set(names))
