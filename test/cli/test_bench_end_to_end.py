"""The whole of the benchmark on a data set of 40 drawn scenes with 4 tasks each: 640 episodes, as a user runs them."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hvs_command import Command, read_lines, wait_for_lines, without_times

from hvs_ros.mock.rooms.__main__ import main as draw_rooms

Hvs = Callable[..., tuple[int, str, str]]
EPISODES = 640
RUN = ("--policy", "random", "--size", "160x90", "--in-flight", 8)


@pytest.mark.timeout(400)
def test_forty_scenes_are_checked_run_killed_resumed_sharded_merged_compared_and_reported(
    hvs: Hvs, begin: Callable[..., Command], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, whole, killed = tmp_path / "data", tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    drawn = ("--scenes", "40", "--tasks", "4", "--starts", "4", "--width", "256", "--jobs", "2", "--splits")
    assert draw_rooms([str(data), *drawn]) == 0
    code, out, err = hvs("bench", "check", data)
    assert code == 0 and "640 episodes" in out, out + err

    # Killed in the middle, and continued: the same as in one go.
    first = begin(data, *RUN, "--results", killed)
    wait_for_lines(first, killed, EPISODES // 3)
    first.send(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    done = len({line["episode"] for line in read_lines(killed, torn=True)})
    assert EPISODES // 3 - 1 <= done < EPISODES, "it was to be killed in the middle"
    assert hvs("bench", data, *RUN, "--results", killed, "--resume")[0] == 0
    code, whole_out, err = hvs("bench", data, *RUN, "--results", whole)
    assert code == 0, err
    assert len(read_lines(killed)) == len(read_lines(whole)) == EPISODES
    assert without_times(killed) == without_times(whole)

    # In three parts, put together in any order: the same again, to the last digit of the table.
    shards = [tmp_path / f"shard_{number}.jsonl" for number in (1, 2, 3)]
    for number, shard in enumerate(shards, start=1):
        assert hvs("bench", data, *RUN, "--results", shard, "--shard", f"{number}/3")[0] == 0
    merged, again = tmp_path / "merged.jsonl", tmp_path / "again.jsonl"
    assert hvs("bench", "merge", merged, *shards)[0] == 0
    assert hvs("bench", "merge", again, *reversed(shards))[0] == 0
    assert merged.read_bytes() == again.read_bytes()
    assert without_times(merged) == without_times(whole)
    code, merged_out, err = hvs("bench", "show", merged)
    assert code == 0 and rates(merged_out) == rates(whole_out) != [], err

    # Another run beside it: they differ, and neither is better by more than chance.
    other, figures = tmp_path / "other.jsonl", tmp_path / "compared.json"
    assert hvs("bench", data, *RUN, "--policy-setting", "seed=1", "--results", other)[0] == 0
    code, out, err = hvs("bench", "compare", whole, other, "--json", figures)
    assert code == 0 and "policy_settings.seed" in out and f"{EPISODES} pairs in " in out, out + err
    assert json.loads(figures.read_text())

    # One page about all of it, with what went worst to look at.
    page = tmp_path / "report.html"
    code, out, err = hvs("bench", "report", whole, "--out", page, "--against", other, "--worst", 3)
    assert code == 0, out + err
    text = page.read_text()
    assert "data:image/jpeg;base64," in text and "HVS-3B" in text and len(text) < 6_000_000


def rates(table: str) -> list[str]:
    """Return the rows of a table that hold the run's own figures."""
    return [" ".join(line.split()) for line in table.splitlines() if re.match(r"policy 'random'|  95 %|Found by", line)]
