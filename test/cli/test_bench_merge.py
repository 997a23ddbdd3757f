"""``hvs bench merge``: shards that were run apart are the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Hvs = Callable[..., tuple[int, str, str]]


def bench(hvs: Hvs, scenes: Path, file: Path, *more: object) -> Path:
    code, _, err = hvs("bench", scenes, "--policy", "random", "--size", "64x36", "--results", file, *more)
    assert code == 0, err
    return file


def table(hvs: Hvs, file: Path) -> list[str]:
    """Return what does not depend on how long things took."""
    out = hvs("bench", "show", file)[1]
    return [line for line in out.splitlines() if not line.startswith("Seconds")]


def test_merged_shards_are_the_whole_run(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    whole = bench(hvs, scenes, tmp_path / "whole.jsonl")
    shards = [bench(hvs, scenes, tmp_path / f"{n}.jsonl", "--shard", f"{n}/3") for n in (1, 2, 3)]
    there, back = tmp_path / "there.jsonl", tmp_path / "back.jsonl"
    code, out, _ = hvs("bench", "merge", there, *shards)
    assert code == 0 and "6 episodes of 3 files" in out
    assert hvs("bench", "merge", back, *shards[::-1])[0] == 0
    assert there.read_bytes() == back.read_bytes()
    assert table(hvs, there) == table(hvs, whole)
    assert "No episode changed sides" in hvs("bench", "compare", whole, there)[1]
    code, out, _ = hvs("bench", scenes, "--policy", "random", "--size", "64x36", "--results", there, "--resume")
    assert code == 0 and there.read_bytes() == back.read_bytes(), "nothing is left to do"


def test_an_interrupted_shard_can_be_continued_from_the_merged_file(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    whole = bench(hvs, scenes, tmp_path / "whole.jsonl")
    part = tmp_path / "part.jsonl"
    part.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:4]))
    merged = tmp_path / "merged.jsonl"
    assert hvs("bench", "merge", merged, part)[0] == 0
    assert "PART of the data: 3 of 6 episodes" in hvs("bench", "show", merged)[1]
    bench(hvs, scenes, merged, "--resume")
    assert table(hvs, merged) == table(hvs, whole)


def test_what_cannot_be_merged_is_one_line(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    one = bench(hvs, scenes, tmp_path / "one.jsonl", "--shard", "1/2")
    other = bench(hvs, scenes, tmp_path / "other.jsonl", "--turns", 3)
    wrong = {
        "different settings and cannot be merged": (tmp_path / "new.jsonl", one, other),
        "is there already: name another file": (other, one),
        "cannot be read": (tmp_path / "new.jsonl", one, tmp_path / "gone.jsonl"),
    }
    for reason, files in wrong.items():
        code, _, err = hvs("bench", "merge", *files)
        assert code == 2 and err.count("\n") == 1 and reason in err
    assert "max_turns: was 10, is 3 now" in hvs("bench", "merge", tmp_path / "new.jsonl", one, other)[2]
    assert not (tmp_path / "new.jsonl").exists()
