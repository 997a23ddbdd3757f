"""Panoramas: open and check a picture of the whole sphere, cut a camera's views out of it, and go back.

    panorama = open_panorama("station.jpg")
    sampler = ViewSampler(panorama, EVALUATION)
    view = sampler.render(yaw_deg=90.0, pitch_deg=-10.0)
    yaw_deg, pitch_deg = pixel_to_direction(EVALUATION, Direction(90.0, -10.0), u=700.5, v=300.5)

Scenes, panoramas with tasks, are in ``hvs_ros.panorama.scene``.
"""

from hvs_ros.panorama.cache import PanoramaCache
from hvs_ros.panorama.camera import EVALUATION, TRAINING, Camera, CameraError
from hvs_ros.panorama.cross import draw_cross, mark_cross
from hvs_ros.panorama.geometry import Tilt
from hvs_ros.panorama.gpano import Crop
from hvs_ros.panorama.inverse import (
    PanoramaBox,
    direction_to_pixel,
    pixel_to_direction,
    view_box_to_panorama,
    visible_fraction,
)
from hvs_ros.panorama.picture import Panorama, PictureError, open_panorama
from hvs_ros.panorama.view import SAMPLINGS, Sampling, ViewInfo, ViewSampler

__all__ = [
    "EVALUATION",
    "SAMPLINGS",
    "TRAINING",
    "Camera",
    "CameraError",
    "Crop",
    "Panorama",
    "PanoramaBox",
    "PanoramaCache",
    "PictureError",
    "Sampling",
    "Tilt",
    "ViewInfo",
    "ViewSampler",
    "direction_to_pixel",
    "draw_cross",
    "mark_cross",
    "open_panorama",
    "pixel_to_direction",
    "view_box_to_panorama",
    "visible_fraction",
]
