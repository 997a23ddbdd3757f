"""What is around a panorama head: a scene, found by name or path, and the views of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hvs_ros.angles import Direction
from hvs_ros.panorama import Camera, PanoramaCache, PictureError, Sampling, ViewSampler
from hvs_ros.panorama.scene import Scene, SceneError, load_scene, load_scenes
from hvs_ros.search.view import Picture
from hvs_ros.share import user_path

MOST_NAMES = 12
"""How many scenes an error names."""


class SurroundingsError(ValueError):
    """A scene that cannot be found or shown; the message names it and what is wrong with it."""


@dataclass(frozen=True)
class Surroundings:
    """A scene, open.

    Attributes:
        scene: which.
        sampler: makes its views.
    """

    scene: Scene
    sampler: ViewSampler

    @property
    def name(self) -> str:
        """The scene's name."""
        return self.scene.name

    @property
    def picture(self) -> str:
        """File and size of the panorama, for a person."""
        panorama = self.sampler.panorama
        return f"{self.scene.panorama_path}, {panorama.width}x{panorama.height}"

    def render(self, direction: Direction) -> Picture:
        """Return the view in a direction."""
        return self.sampler.render(direction.yaw_deg, direction.pitch_deg)


class Workshop:
    """Finds scenes and opens them.

    Args:
        scenes: folder of scenes; empty: there is none, scenes are given by path.
        camera: looks at them.
        sampling: exact or hstar.
        supersample: see ``ViewSampler``.
        cache_mb: memory for decoded panoramas.
    """

    def __init__(self, scenes: str, camera: Camera, sampling: Sampling, supersample: int, cache_mb: int) -> None:
        self._folder = user_path(scenes) if scenes else None
        self._camera, self._sampling, self._supersample = camera, sampling, supersample
        self._cache = PanoramaCache(cache_mb * 1_000_000)

    def first(self, wanted: str) -> Surroundings | None:
        """Return the scene to start in: the wanted one, or the folder's first; None where neither is given.

        Raises:
            SurroundingsError: there is no such scene, or it cannot be shown.
        """
        if wanted:
            return self.find(wanted)
        if self._folder is None:
            return None
        return self._open(self._listed(self._folder)[0])

    def find(self, wanted: str) -> Surroundings:
        """Return a scene by its name in the folder, or by the path of a scene folder or of a picture.

        Raises:
            SurroundingsError: there is no such scene, or it cannot be shown.
        """
        if not wanted:
            raise SurroundingsError(
                "the scene is empty: give a scene's name, or the path of a scene folder or a picture"
            )
        try:
            return self._open(self._named(wanted) or load_scene(user_path(wanted)))
        except SceneError as error:
            raise SurroundingsError(str(error)) from error
        except OSError as error:  # a name that is too long
            raise SurroundingsError(f"'{wanted:.200}' is no scene: {error!s:.200}") from error

    def _named(self, name: str) -> Scene | None:
        """Return the folder's scene of this name; None where the name is a path."""
        if self._folder is None or Path(name).name != name:
            return None
        # Directly, so that another scene's mistake is no obstacle.
        if (self._folder / name).is_dir():
            return load_scene(self._folder / name)
        scenes = self._listed(self._folder)
        for scene in scenes:
            if name in (scene.name, scene.panorama_path.name):
                return scene
        if Path(name).exists():
            return None
        names = ", ".join(scene.name for scene in scenes[:MOST_NAMES])
        more = f" and {len(scenes) - MOST_NAMES} more" if len(scenes) > MOST_NAMES else ""
        raise SurroundingsError(f"no scene '{name}' in {self._folder}; there are {names}{more}")

    @staticmethod
    def _listed(folder: Path) -> list[Scene]:
        try:
            return load_scenes(folder)
        except SceneError as error:
            raise SurroundingsError(str(error)) from error

    def _open(self, scene: Scene) -> Surroundings:
        tilt = scene.tilt
        try:
            panorama = self._cache.get(scene.panorama_path, roll_deg=tilt.roll_deg, pitch_deg=tilt.pitch_deg)
        except PictureError as error:
            raise SurroundingsError(str(error)) from error
        sampler = ViewSampler(panorama, self._camera, sampling=self._sampling, supersample=self._supersample)
        return Surroundings(scene, sampler)
