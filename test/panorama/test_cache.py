from __future__ import annotations

import os
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from hvs_ros.panorama import PanoramaCache, PictureError, cache

SIZE = (64 + 2) * 128 * 4


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for grey in range(4):
        cv2.imwrite(str(tmp_path / f"{grey}.png"), np.full((64, 128, 3), grey * 50, np.uint8))
    return sorted(tmp_path.iterdir())


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that have been decoded."""
    names: list[str] = []
    real = cache.open_panorama

    def spy(path: Path) -> object:
        names.append(path.name)
        return real(path)

    monkeypatch.setattr(cache, "open_panorama", spy)
    return names


def test_least_recently_used_leave_first_within_the_budget(files: list[Path], opened: list[str]) -> None:
    held = PanoramaCache(2 * SIZE + 10)
    for index in (0, 1, 0, 2, 0, 1):
        assert held.get(files[index]).image[0, 0, 0] == index * 50
        assert held.nbytes <= 2 * SIZE + 10
    assert opened == ["0.png", "1.png", "2.png", "1.png"]


def test_no_budget_keeps_nothing_and_still_serves(files: list[Path], opened: list[str]) -> None:
    held = PanoramaCache(0)
    held.get(files[0])
    held.get(files[0])
    assert len(held) == 0 and len(opened) == 2
    with pytest.raises(ValueError, match="budget_bytes"):
        PanoramaCache(-1)


def test_a_replaced_file_is_read_again_and_the_old_one_forgotten(files: list[Path]) -> None:
    held = PanoramaCache(10 * SIZE)
    held.get(files[0])
    cv2.imwrite(str(files[0]), np.full((64, 128, 3), 99, np.uint8))
    os.utime(files[0], ns=(1, 1))
    assert held.get(files[0]).image[0, 0, 0] == 99
    assert len(held) == 1


def test_other_tilts_share_the_pixels(files: list[Path], opened: list[str]) -> None:
    held = PanoramaCache(10 * SIZE)
    level, tilted = held.get(files[0]), held.get(files[0], roll_deg=5)
    assert level.padded is tilted.padded and opened == ["0.png"]
    assert (level.offset.roll_deg, tilted.offset.roll_deg) == (0, 5)


def test_failures_are_not_kept(files: list[Path]) -> None:
    held, good = PanoramaCache(10 * SIZE), files[0].read_bytes()
    files[0].write_bytes(good[:100])
    with pytest.raises(PictureError, match="truncated"):
        held.get(files[0])
    files[0].write_bytes(good)
    held.get(files[0])
    with pytest.raises(PictureError, match="No such file"):
        held.get(files[0].with_name("none.png"))


def test_threads_decode_a_file_once(files: list[Path], opened: list[str]) -> None:
    held, results = PanoramaCache(10 * SIZE), []
    threads = [threading.Thread(target=lambda: results.append(held.get(files[3]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == 8 and opened == ["3.png"]
