"""Panoramas and sampling tables that the environments of a process share.

Sixteen environments in one process look into the same scenes, so each picture is decoded once for all of them. Whoever
looks holds the studio; when the last environment is closed or forgotten it goes, and its memory with it.
"""

from __future__ import annotations

from hvs_ros.gym.shared import Shared
from hvs_ros.panorama import Camera, PanoramaCache, Sampling, ViewSampler
from hvs_ros.panorama.scene import Scene
from hvs_ros.panorama.tables import TableCache

_BYTES = 1_000_000


class Studio:
    """Opens scenes.

    Args:
        memory_mb: for decoded panoramas that no environment looks at just now.

    Raises:
        ValueError: less than none.
    """

    def __init__(self, memory_mb: int) -> None:
        if memory_mb < 0:
            raise ValueError(f"memory_mb is {memory_mb}; give 0 (nothing is kept) or more")
        self.panoramas = PanoramaCache(memory_mb * _BYTES)
        self._tables = TableCache()

    def sampler(self, scene: Scene, camera: Camera, sampling: Sampling) -> ViewSampler:
        """Return what makes views of a scene.

        Raises:
            PictureError: its picture cannot be opened.
        """
        tilt = scene.tilt
        panorama = self.panoramas.get(scene.panorama_path, roll_deg=tilt.roll_deg, pitch_deg=tilt.pitch_deg)
        return ViewSampler(panorama, camera, sampling=sampling, tables=self._tables)


studios = Shared(Studio)
"""Those of this process, by their memory."""
