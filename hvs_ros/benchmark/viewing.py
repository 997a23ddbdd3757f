"""How the views of a run are made."""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros.panorama import Camera, Panorama, Sampling, ViewSampler


@dataclass(frozen=True)
class Viewing:
    """What looks at the panoramas.

    Attributes:
        camera: size, field of view and lens.
        sampling: exact or hstar.
        supersample: see ``ViewSampler``.
    """

    camera: Camera
    sampling: Sampling = "exact"
    supersample: int = 1

    def sampler(self, panorama: Panorama) -> ViewSampler:
        """Return what makes the views of a panorama."""
        return ViewSampler(panorama, self.camera, sampling=self.sampling, supersample=self.supersample)
