"""``hvs bench report`` writes a page from a results file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Hvs = Callable[..., tuple[int, str, str]]


@pytest.fixture
def results(hvs: Hvs, scenes: Path, tmp_path: Path) -> Path:
    file = tmp_path / "random.jsonl"
    sim = ("sim", "--in-process", "--scenes", scenes, "--policy", "random", "--size", "64x36", "--results", file)
    assert hvs(*sim)[0] == 0
    return file


def noted(file: Path, **settings: object) -> None:
    """Change the settings in a results file."""
    first, _, rest = file.read_text().partition("\n")
    header = json.loads(first)
    header["settings"].update(settings)
    file.write_text(f"{json.dumps(header)}\n{rest}")


def test_the_page_lies_beside_the_results(hvs: Hvs, scenes: Path, results: Path) -> None:
    code, out, err = hvs("bench", "report", results, "--dataset", scenes)
    page = results.with_suffix(".html")
    assert (code, out, err) == (0, f"{page}\n", "")
    text = page.read_text()
    assert "Benchmark of random" in text and text.count('class="shot-view"') >= 4
    assert "scoring <b>paper rule</b>" in text


def test_the_data_set_is_found_by_the_results(hvs: Hvs, scenes: Path, results: Path, tmp_path: Path) -> None:
    noted(results, notes={"dataset": str(scenes)}, protocol="reference", scoring="reference")
    out = tmp_path / "pages" / "r.html"
    assert hvs("bench", "report", results, "--out", out, "--worst", 1)[0] == 0
    assert out.read_text().count('class="strip"') == 1 and 'class="shot-view"' in out.read_text()
    assert "scoring <b>reference rule</b>" in out.read_text()
    assert hvs("bench", "report", results, "--out", out, "--worst", 0, "--scoring", "paper")[0] == 0
    assert 'class="strip"' not in out.read_text() and "scoring <b>paper rule</b>" in out.read_text()


def test_a_data_set_that_is_gone_is_told_and_the_page_made(hvs: Hvs, results: Path, tmp_path: Path) -> None:
    noted(results, notes={"dataset": str(tmp_path / "gone")})
    code, out, err = hvs("bench", "report", results)
    assert code == 0 and str(tmp_path / "gone") in err and err.count("\n") == 1
    assert 'class="strip"' in Path(out.strip()).read_text()


def test_another_run_beside_it(hvs: Hvs, scenes: Path, results: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(results.read_text())
    assert hvs("bench", "report", results, "--against", other)[0] == 0
    text = results.with_suffix(".html").read_text()
    assert "Against other, episode by episode" in text and "Both found the same episodes." in text


def test_what_cannot_be_done_is_one_line(hvs: Hvs, results: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    for arguments, words in (
        ((tmp_path / "gone.jsonl",), "gone.jsonl"),
        ((tmp_path / "notes.txt",), "not a results file"),
        ((results, "--against", tmp_path / "notes.txt"), "not a results file"),
        ((results, "--dataset", tmp_path / "nowhere"), "nowhere"),
        ((results, "--out", tmp_path), "is a folder"),
        ((results, "--out", results), "would replace the results"),
    ):
        code, out, err = hvs("bench", "report", *arguments)
        assert code == 2 and err.count("\n") == 1 and words in err and out == "", words
    assert results.read_text().startswith("{"), "the results are as they were"
    blocked = tmp_path / "notes.txt" / "page.html"
    code, _, err = hvs("bench", "report", results, "--out", blocked)
    assert code == 1 and err.count("\n") == 1 and str(blocked) in err
