"""The results file: what is kept survives, and nothing is mixed that does not belong together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmark_builders import OBJECT, PATH, SETTINGS, failed, make_episode, submitted

from hvs_ros.angles import Direction
from hvs_ros.benchmark.result import judge
from hvs_ros.benchmark.result_json import from_json, to_json
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile, read_results
from hvs_ros.panorama import Tilt
from hvs_ros.panorama.scene import Scene
from hvs_ros.search.decision import Usage
from hvs_ros.search.episode import Outcome
from hvs_ros.search.scoring import ScoringMode


def test_a_result_is_the_same_after_a_trip_through_json(tmp_path: Path) -> None:
    for target, record in [
        (OBJECT, replace(submitted(91.0, 3.0), bag=tmp_path / "bags", guess=True, looking=Direction(300.0, -5.0))),
        (PATH, submitted(2.0)),
        (None, submitted(2.0)),
        (OBJECT, failed(Outcome.HEAD_UNAVAILABLE)),
    ]:
        result = replace(judge(make_episode(tmp_path, target=target), record, attempts=2, seconds=1.5), tilt=(1.5, 0.0))
        assert from_json(json.loads(json.dumps(to_json(result, tmp_path))), tmp_path) == result


def test_a_file_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    result = judge(make_episode(tmp_path), submitted(91.0))
    line = to_json(result)
    for turn in line["turns"]:
        del turn["picture"], turn["tokens"]
    turns = from_json(line).record.turns
    assert turns[0].picture == "" and turns[0].usage == Usage()
    assert turns[0].action == result.record.turns[0].action


def test_one_line_an_episode_after_one_of_settings(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        for number in range(3):
            results.append(judge(make_episode(tmp_path, number), submitted(91)))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["settings"]["policy"] == "random"
    assert [line["episode"] for line in lines[1:]] == ["hall/0/0", "hall/1/0", "hall/2/0"]
    assert lines[1]["submitted_judged"]["paper"] is True


def test_a_torn_last_line_is_dropped_and_the_rest_continues(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        for number in range(2):
            results.append(judge(make_episode(tmp_path, number), submitted(91)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert list(read_results(path)[1]) == ["hall/0/0"]
    with ResultsFile.resume(path, SETTINGS) as results:
        assert results.dropped
        assert list(results.results) == ["hall/0/0"]
        results.append(judge(make_episode(tmp_path, 1), submitted(91)))
    assert len(path.read_bytes().splitlines()) == 3
    assert list(read_results(path)[1]) == ["hall/0/0", "hall/1/0"]


def test_an_existing_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    ResultsFile.create(path, SETTINGS).close()
    with pytest.raises(ResultsError, match="is there already: continue it with --resume"):
        ResultsFile.create(path, SETTINGS)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"policy": "signs"}, 'policy: was "random", is "signs" now'),
        ({"policy_settings": {"seed": 2}}, "policy_settings.seed: was 1, is 2 now"),
        ({"camera": {"size": (1280, 720)}}, "camera.size: was not set, is [1280, 720] now"),
        ({"versions": {"hvs_ros": "1.1"}}, 'versions.hvs_ros: was "1.0", is "1.1" now'),
        ({"max_turns": 3}, "max_turns: was not set, is 3 now"),
    ],
)
def test_other_settings_are_refused_and_named(tmp_path: Path, changed: dict[str, object], named: str) -> None:
    path = tmp_path / "results.jsonl"
    ResultsFile.create(path, SETTINGS).close()
    with pytest.raises(ResultsError) as error:
        ResultsFile.resume(path, replace(SETTINGS, **changed))  # type: ignore[arg-type]
    assert named in str(error.value)
    ResultsFile.resume(path, SETTINGS).close()


def test_an_exchanged_task_or_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        results.append(judge(make_episode(tmp_path), submitted(91)))
    with ResultsFile.resume(path, SETTINGS) as results:
        results.check([make_episode(tmp_path)])
        with pytest.raises(ResultsError, match=r"hall/0/0 has changed .*instruction"):
            results.check([make_episode(tmp_path, task="Find something else.")])
        with pytest.raises(ResultsError, match="level: was 1, is 2 now"):
            results.check([make_episode(tmp_path, level=2)])
        tilted = replace(make_episode(tmp_path), scene=Scene("hall", tmp_path / "hall.jpg", tilt=Tilt(2.0, -1.0)))
        with pytest.raises(ResultsError, match=r"tilt of the camera: was \(0\.0, 0\.0\), is \(2\.0, -1\.0\) now"):
            results.check([tilted])
        (tmp_path / "hall.jpg").write_bytes(b"another picture")
        (tmp_path / "hall.jpg").write_bytes(b"x")
        with pytest.raises(ResultsError, match="picture"):
            results.check([make_episode(tmp_path)])


def test_a_repaired_picture_is_searched_when_the_run_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        results.append(judge(make_episode(tmp_path), failed(Outcome.HEAD_FAILED, "truncated")))
    (tmp_path / "hall.jpg").write_bytes(b"all of the picture")
    with ResultsFile.resume(path, SETTINGS) as results:
        results.check([make_episode(tmp_path)])


def test_a_data_set_without_the_completed_episodes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        for number in range(3):
            results.append(judge(make_episode(tmp_path, number), submitted(91)))
        results.append(judge(make_episode(tmp_path, 3), failed(Outcome.HEAD_FAILED)))
        results.check_known({f"hall/{number}/0" for number in range(3)})
        with pytest.raises(ResultsError, match="the data set has no episode hall/0/0 and 1 more, which it holds"):
            results.check_known({"hall/2/0", "split/hall/0/0"})


@pytest.mark.parametrize("cut", [0, 5, 40])
def test_a_file_that_was_cut_off_in_its_first_line_begins_anew(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "results.jsonl"
    ResultsFile.create(path, SETTINGS).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    with ResultsFile.resume(path, SETTINGS) as results:
        assert results.results == {} and results.dropped == (cut > 0)
    assert path.read_bytes() == whole


def test_what_is_no_text_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    settings = SETTINGS.with_facts({"model": "half \ud800 a pair"}).with_notes({"dataset": "/data/\udcff"})
    with ResultsFile.create(path, settings) as results:
        results.append(judge(make_episode(tmp_path), failed(Outcome.POLICY_FAILED, "the answer \udfff is none")))
    with ResultsFile.resume(path, settings) as results:
        assert results.results["hall/0/0"].record.message == "the answer ? is none"
    assert read_results(path)[0]["facts"] == {"model": "half ? a pair"}


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS), pytest.raises(ResultsError, match="another run is writing"):
        ResultsFile.resume(path, SETTINGS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "is not a results file"),
        ("hello\n", "is not a results file"),
        ("[1]\n", "is not a results file"),
        ('{"hvs_results": 99, "settings": {}}\n', "format 99"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(ResultsError, match=reason):
        ResultsFile.resume(path, SETTINGS)
    assert path.read_text() == text


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        results.append(judge(make_episode(tmp_path), submitted(91)))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], '{"episode": 3}', lines[1]]) + "\n")
    with pytest.raises(ResultsError, match="line 2 is not a result"):
        ResultsFile.resume(path, SETTINGS)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("episode",), 3),
        (("scene",), ["hall"]),
        (("level",), "easy"),
        (("guess",), "no"),
        (("start",), [0, "x"]),
        (("target", "yaw"), [10**400, 0]),
        (("submitted",), [None, None]),
        (("submitted_judged", "paper"), 1),
        (("turns", 0, "direction"), [float("nan"), 0.0]),
        (("turns", 0, "think_s"), {}),
        (("turns", 0, "raw"), 7),
        (("turns", 0, "tokens"), ["many"]),
    ],
)
def test_a_value_that_was_spoilt_is_named(tmp_path: Path, keys: tuple[str | int, ...], value: object) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        results.append(judge(make_episode(tmp_path), submitted(91)))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    holder = lines[1]
    for key in keys[:-1]:
        holder = holder[key]
    assert keys[-1] in holder
    holder[keys[-1]] = value
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ResultsError, match="line 2 is not a result"):
        read_results(path)


@pytest.mark.parametrize(("name", "value"), [("camera", "wide"), ("facts", None), ("deviations", True)])
def test_spoilt_settings_are_named(tmp_path: Path, name: str, value: object) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"hvs_results": 1, "settings": {**SETTINGS.to_json(), name: value}}) + "\n")
    with pytest.raises(ResultsError, match=f"in its first line '{name}' is"):
        read_results(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match=r"results\.jsonl cannot be written"):
        ResultsFile.create(tmp_path / "file" / "results.jsonl", SETTINGS)
    with pytest.raises(ResultsError, match="cannot be continued: No such file"):
        ResultsFile.resume(tmp_path / "none.jsonl", SETTINGS)


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    path = tmp_path / "results.jsonl"
    with ResultsFile.create(path, SETTINGS) as results:
        whole = path.read_bytes()
        write = os.write
        monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:10]))
        with pytest.raises(ResultsError, match="no space left"):
            results.append(judge(make_episode(tmp_path), submitted(91)))
        monkeypatch.undo()
    assert path.read_bytes() == whole


def test_both_rules_judge_both_directions(tmp_path: Path) -> None:
    # Across yaw 0 the published code does not look at the pitch.
    across = make_episode(tmp_path, target=replace(PATH, pitch_deg=(-5.0, 5.0)))
    result = judge(across, submitted(0.0, 60.0, looking=Direction(180.0, 0.0)))
    assert result.submitted is not None and result.looking is not None
    assert result.submitted.success == {ScoringMode.PAPER: False, ScoringMode.REFERENCE: True}
    assert result.submitted.pitch_error_deg == 60.0
    assert (result.success(ScoringMode.PAPER), result.success(ScoringMode.REFERENCE)) == (False, True)
    assert result.looking_success(ScoringMode.REFERENCE) is False


def test_what_is_appended_is_returned_as_the_file_holds_it(tmp_path: Path) -> None:
    """A run prints its table of these, ``hvs results`` that of the file: the two must not differ by a rounding."""
    path = tmp_path / "results.jsonl"
    result = judge(make_episode(tmp_path), submitted(91.00004, 3.0), seconds=1.50004)
    with ResultsFile.create(path, SETTINGS) as results:
        held = results.append(result)
        assert held != result
        assert held == results.results[held.episode_id] == read_results(path)[1][held.episode_id]
