"""Views of a search, drawn again: they show what is there, with the target where it is."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from hvs_ros.angles import Direction
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.panorama import Camera, direction_to_pixel
from hvs_ros.report.bench_strips import whereabouts
from hvs_ros.report.bench_views import NoViewsError, Places, small_camera, submitted_mark, target_lines
from hvs_ros.report.pictures import inline_within
from hvs_ros.search.task import Target

from bench_runs import result  # isort: skip

CAMERA = Camera(400, 225, 100.0)
TARGET = Target((80.0, 100.0), (-10.0, 10.0))
SETTINGS = {"camera": {"width": 1920, "height": 1080, "hfov_deg": 100.0}}


def red_box(folder: Path, tilt: str = "") -> EpisodeResult:
    """Write a scene that is red where the target is, and return a search in it."""
    folder.mkdir(parents=True, exist_ok=True)
    picture = np.full((512, 1024, 3), 60, np.uint8)
    picture[228:284, 740:796] = (0, 0, 255)  # yaw 80 to 100, pitch -10 to 10
    cv2.imwrite(str(folder / "hall.png"), picture)
    if tilt:
        (folder / "scene.yaml").write_text(tilt)
    one = result(target=TARGET, scene=folder.name)
    object.__setattr__(one, "panorama", ("hall.png", (folder / "hall.png").stat().st_size))
    return one


def decoded(address: str) -> np.ndarray:
    data = np.frombuffer(base64.b64decode(address.partition(",")[2]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


def points(lines: str, kind: str) -> np.ndarray:
    (drawn,) = re.findall(rf'class="{kind}" d="([^"]+)"', lines)
    return np.array([[float(x), float(y)] for x, y in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", drawn)])


def test_a_view_shows_the_target_where_its_outline_is(tmp_path: Path) -> None:
    place = Places(tmp_path, SETTINGS).open(red_box(tmp_path / "hall"))
    for direction in (Direction(90.0, 0.0), Direction(60.0, 15.0), Direction(110.0, -20.0)):
        view = decoded(place.view(direction, 40_000).address)
        assert view.shape == (225, 400, 3)
        rows, columns = np.nonzero((view[..., 2] > 180) & (view[..., 0] < 90))
        box = points(target_lines(place.camera, direction, TARGET), "v-target")
        assert np.abs(box.min(0) - (columns.min(), rows.min())).max() < 4
        assert np.abs(box.max(0) - (columns.max() + 1, rows.max() + 1)).max() < 4


def test_the_tilt_of_a_scene_counts(tmp_path: Path) -> None:
    upright, tilted = (
        decoded(
            Places(tmp_path, SETTINGS).open(red_box(tmp_path / name, tilt)).view(Direction(90.0, 0.0), 40_000).address
        )
        for name, tilt in (("level", ""), ("tilted", "pitch_deg: 0\nroll_deg: 20\n"))
    )
    assert np.abs(upright.astype(int) - tilted.astype(int)).max() > 100


def test_what_is_out_of_view_is_not_outlined() -> None:
    assert target_lines(CAMERA, Direction(270.0, 0.0), TARGET) == ""
    assert submitted_mark(CAMERA, Direction(270.0, 0.0), Direction(90.0, 0.0)) == ""
    assert "nan" not in target_lines(CAMERA, Direction(0.0, 80.0), TARGET)


def test_a_path_has_no_upper_and_lower_edge() -> None:
    box = points(target_lines(CAMERA, Direction(0.0, 0.0), Target((350.0, 10.0))), "v-target")
    left, _ = direction_to_pixel(CAMERA, Direction(0.0, 0.0), 350.0, 0.0)
    assert box[:, 1].min() < 0 and box[:, 1].max() > CAMERA.height, "the edges run out of the picture"
    assert np.abs(np.abs(box[:, 0] - 200.0) - abs(float(left) - 200.0)).max() < 0.1, "and nothing is between them"


def test_a_submission_is_marked_where_it_is() -> None:
    u, v = direction_to_pixel(CAMERA, Direction(80.0, 5.0), 100.0, 0.0)
    assert f"translate({float(u):.1f},{float(v):.1f})" in submitted_mark(
        CAMERA, Direction(80.0, 5.0), Direction(100.0, 0.0)
    )


@pytest.mark.parametrize(
    ("yaw", "pitch", "words"),
    [
        (90.0, 0.0, "target in view"),
        (35.0, 0.0, "target partly in view"),
        (0.0, 0.0, "target 90° right"),
        (180.0, 0.0, "target 90° left"),
        (0.0, -40.0, "target 90° right, 40° up"),
    ],
)
def test_it_is_said_where_the_target_is(yaw: float, pitch: float, words: str) -> None:
    assert whereabouts(CAMERA, Direction(yaw, pitch), TARGET) == words


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"camera": None},
        {"camera": {"width": 0, "height": 1, "hfov_deg": 100}},
        {"camera": {"width": "<b>", "height": 1, "hfov_deg": 100}},
        {"camera": {"width": 1e-300, "height": 1e300, "hfov_deg": 100}},
        {"camera": {"width": 1920, "height": 1080, "hfov_deg": 400}},
    ],
)
def test_a_run_without_a_camera_has_no_views(tmp_path: Path, settings: dict[str, object]) -> None:
    assert small_camera(settings) is None
    with pytest.raises(NoViewsError, match="camera"):
        Places(tmp_path, settings).open(red_box(tmp_path / "hall"))


def test_a_picture_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    one = red_box(tmp_path / "hall")
    file = tmp_path / "hall" / "hall.png"
    file.write_bytes(b"\0" * file.stat().st_size)
    with pytest.raises(NoViewsError, match=r"hall\.png"):
        Places(tmp_path, SETTINGS).open(one)


def test_pictures_keep_to_their_limit() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (225, 400, 3), np.uint8)
    small = inline_within(noise, 15_000)
    assert len(base64.b64decode(small.address.partition(",")[2])) <= 15_000
    assert inline_within(np.zeros_like(noise), 15_000).width == 400
