"""A head finds its scene by name or path, and says what is wrong where it does not."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from hvs_ros.angles import Direction
from hvs_ros.panorama import Camera
from hvs_ros.panorama.surroundings import SurroundingsError, Workshop

CAMERA = Camera(32, 18, 90.0)


def picture(path: Path, level: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), np.full((32, 64, 3), level, np.uint8))


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    picture(tmp_path / "scenes" / "b" / "any.png", 20)
    picture(tmp_path / "scenes" / "a" / "any.png", 10)
    picture(tmp_path / "scenes" / "bare.png", 30)
    return tmp_path / "scenes"


def workshop(scenes: Path | str) -> Workshop:
    return Workshop(str(scenes), CAMERA, "exact", 1, 100)


def test_the_first_scene(scenes: Path) -> None:
    first = workshop(scenes).first("")
    assert first is not None
    assert first.name == "a"
    view = first.render(Direction(0.0, 0.0))
    assert view.shape == (18, 32, 3)
    assert (view == 10).all()


def test_no_scene_is_no_error() -> None:
    assert workshop("").first("") is None


@pytest.mark.parametrize("wanted", ["b", "bare", "bare.png"])
def test_by_name(scenes: Path, wanted: str) -> None:
    found = workshop(scenes).find(wanted)
    assert found.name == wanted.removesuffix(".png")
    assert f"{found.scene.panorama_path}, 64x32" in found.picture


@pytest.mark.parametrize("folder", ["scenes", ""])
def test_by_path(scenes: Path, tmp_path: Path, folder: str) -> None:
    shop = workshop(tmp_path / folder if folder else "")
    assert shop.find(str(scenes / "b")).name == "b"
    assert shop.find(str(scenes / "b" / "any.png")).name == "any"


def test_another_scenes_mistake_is_no_obstacle(scenes: Path) -> None:
    (scenes / "a" / "annotation.json").write_text("{")
    assert workshop(scenes).find("b").name == "b"
    with pytest.raises(SurroundingsError, match="annotation"):
        workshop(scenes).find("a")


def test_an_unknown_name_lists_those_there_are(scenes: Path) -> None:
    with pytest.raises(SurroundingsError, match=r"no scene 'c' in .*; there are a, b, bare"):
        workshop(scenes).find("c")
    for index in range(20):
        picture(scenes / f"more{index:02}.png", 1)
    with pytest.raises(SurroundingsError, match="and 11 more"):
        workshop(scenes).find("c")


@pytest.mark.parametrize("wanted", ["", "/does/not/exist", "./none/here"])
def test_nothing_there(scenes: Path, wanted: str) -> None:
    with pytest.raises(SurroundingsError, match=wanted.removeprefix("./") or "empty"):
        workshop(scenes).find(wanted)


def test_a_missing_folder_of_scenes(tmp_path: Path) -> None:
    with pytest.raises(SurroundingsError, match="none"):
        workshop(tmp_path / "none").first("")


def test_the_tripods_tilt_is_taken_out(tmp_path: Path) -> None:
    rows = np.linspace(0, 255, 256).astype(np.uint8)[:, None, None]
    (tmp_path / "tilted").mkdir()
    cv2.imwrite(str(tmp_path / "tilted" / "p.png"), np.broadcast_to(rows, (256, 512, 3)))
    (tmp_path / "tilted" / "scene.yaml").write_text(json.dumps({"pitch_deg": 20.0}))
    level = workshop(tmp_path).find(str(tmp_path / "tilted" / "p.png")).render(Direction(0.0, 20.0))
    tilted = workshop(tmp_path).find("tilted").render(Direction(0.0, 40.0))
    np.testing.assert_allclose(tilted[9, 16], level[9, 16], atol=2)
