"""Views of a benchmark's searches, drawn again from the data set: results hold directions, not pictures.

The data set may have moved, or hold another picture of that name by now. Then there is no view, and it says why: a view
of another place would be worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from hvs_ros.angles import Direction
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.panorama import (
    Camera,
    CameraError,
    Panorama,
    PanoramaCache,
    PictureError,
    Tilt,
    ViewSampler,
    direction_to_pixel,
)
from hvs_ros.panorama.geometry import Floats
from hvs_ros.panorama.scene import SceneError, load_scene
from hvs_ros.report.pictures import Inline, inline_within, level_map
from hvs_ros.search.scoring import accepted_pitch_deg, accepted_yaw_deg
from hvs_ros.search.task import Target

VIEW_WIDTH, MAP_WIDTH = 400, 760
"""Pixels of a view and of a panorama in the page."""
SUPERSAMPLE = 3
"""Samples along each side of a pixel: so small a view of a large panorama would be nothing but moire."""
CACHE_BYTES = 400_000_000
_STEPS = 64
"""Points along an edge of a box."""


class NoViewsError(Exception):
    """A scene that cannot be shown; the message says why, for the page."""


@dataclass(frozen=True)
class Place:
    """An open scene.

    Attributes:
        panorama: of it, with its tilt.
        tilt: of the camera that took it.
        camera: of the views, as small as they are in the page.
    """

    panorama: Panorama
    tilt: Tilt
    camera: Camera

    def view(self, direction: Direction, limit: int) -> Inline:
        """Return the view in a direction, in at most so many bytes."""
        sampler = ViewSampler(self.panorama, self.camera, supersample=SUPERSAMPLE)
        return inline_within(sampler.render(direction.yaw_deg, direction.pitch_deg), limit)

    def map(self, limit: int) -> Inline:
        """Return the whole panorama, in at most so many bytes."""
        return inline_within(level_map(self.panorama, self.tilt, MAP_WIDTH), limit)


class Places:
    """Opens the scenes of results.

    Args:
        dataset: folder of the data set, or of one of its splits; None: not known.
        settings: of the run, for its camera.
    """

    def __init__(self, dataset: Path | None, settings: Mapping[str, Any]) -> None:
        self._dataset = dataset
        self._camera = small_camera(settings)
        self._cache = PanoramaCache(CACHE_BYTES)

    @property
    def camera(self) -> Camera | None:
        """The camera of the run, as small as its views are in the page; None where the settings hold none."""
        return self._camera

    def open(self, result: EpisodeResult) -> Place:
        """Return the scene of a result.

        Raises:
            NoViewsError: why it cannot be shown.
        """
        if self._camera is None:
            raise NoViewsError("the settings of the run hold no camera")
        if self._dataset is None:
            raise NoViewsError("the results do not say where the data set is: give --dataset DIR")
        name, size = result.panorama
        other = False
        for folder in _folders(self._dataset, result.scene):
            picture = folder / name
            if not _plain(name) or not picture.is_file():
                continue
            if picture.stat().st_size != size:
                other = True
                continue
            try:
                tilt = load_scene(folder if folder != self._dataset else picture).tilt
                opened = self._cache.get(picture, roll_deg=tilt.roll_deg, pitch_deg=tilt.pitch_deg)
            except (SceneError, PictureError) as error:
                raise NoViewsError(str(error)) from error
            return Place(opened, tilt, self._camera)
        if other:
            raise NoViewsError(f"{name} in {self._dataset} is another picture now, of another size than in the run")
        raise NoViewsError(f"{result.scene}/{name} is not in {self._dataset}")


def small_camera(settings: Mapping[str, Any]) -> Camera | None:
    """Return the camera of a run with pictures as wide as the page's; None where the settings hold none."""
    camera = settings.get("camera")
    try:
        width, height, hfov = (float(camera[key]) for key in ("width", "height", "hfov_deg"))  # type: ignore[index]
        return Camera(VIEW_WIDTH, max(1, round(VIEW_WIDTH * height / width)), hfov)
    except (CameraError, KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None


def target_lines(camera: Camera, direction: Direction, target: Target) -> str:
    """Return the target's box and what is accepted around it, where a view shows them, as SVG."""
    accepted = _box_lines(camera, direction, accepted_yaw_deg(target), accepted_pitch_deg(target), target)
    box = _box_lines(camera, direction, target.yaw_deg, target.pitch_deg or (-90.0, 90.0), target)
    return "".join(
        f'<path class="{name}{halo}" d="{drawn}"/>'
        for name, drawn in (("v-accepted", accepted), ("v-target", box))
        if drawn
        for halo in (" halo", "")
    )


def submitted_mark(camera: Camera, direction: Direction, submitted: Direction) -> str:
    """Return the mark of a wrong submission where a view shows it, as SVG; empty where it does not."""
    u, v = direction_to_pixel(camera, direction, submitted.yaw_deg, submitted.pitch_deg)
    if not bool(camera.contains(u, v)):
        return ""
    hair = "M0,-7.5 V-2.8 M0,2.8 V7.5 M-7.5,0 H-2.8 M2.8,0 H7.5"
    shape = f'<circle class="ring{{0}}" r="4.6"/><path class="hair{{0}}" d="{hair}"/>'
    return (
        f'<g class="answer bad" transform="translate({float(u):.1f},{float(v):.1f}) scale(2.2)">'
        f"{shape.format(' halo')}{shape.format('')}</g>"
    )


def _box_lines(
    camera: Camera, direction: Direction, yaw: tuple[float, float], pitch: tuple[float, float], target: Target
) -> str:
    left, right = yaw
    width = right - left if right >= left else right - left + 360.0
    across, up = np.linspace(left, left + width, _STEPS), np.linspace(*pitch, _STEPS)
    edges = [(np.full(_STEPS, left), up), (np.full(_STEPS, left + width), up)] if width < 360.0 else []
    if target.pitch_deg is not None:  # a path goes up and down without end
        edges += [(across, np.full(_STEPS, level)) for level in pitch]
    return "".join(_pieces(camera, *direction_to_pixel(camera, direction, *edge)) for edge in edges)


def _pieces(camera: Camera, u: Floats, v: Floats) -> str:
    """Return the parts of a line that lie in the picture or just beside it."""
    drawn, pen_down = "", False
    for x, y in zip(u.tolist(), v.tolist(), strict=True):
        near = -camera.width <= x <= 2 * camera.width and -camera.height <= y <= 2 * camera.height  # NaN is not
        if near:
            drawn += f"{'L' if pen_down else 'M'}{x:.1f},{y:.1f}"
        pen_down = near
    return drawn


def _folders(dataset: Path, scene: str) -> Iterable[Path]:
    """Yield where the picture of a scene may be: in its folder, bare, or in the split that was given itself."""
    if _plain(scene):
        yield dataset / scene
        yield (dataset / scene).parent
        yield dataset / PurePosixPath(scene).name
    yield dataset


def _plain(name: str) -> bool:
    """Return whether a name from a results file stays inside the folder it is looked for in."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not PurePosixPath(name).is_absolute() and ".." not in parts and "\0" not in name
