"""What the panorama head can be told."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hvs_ros import angles
from hvs_ros.neck.description import two_axis_urdf
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.simulated import MotionLimits
from hvs_ros.nodes.parameters import ParameterError, parameter
from hvs_ros.panorama.calibration import CalibrationError, read_calibration
from hvs_ros.panorama.camera import Camera
from hvs_ros.panorama.view import Sampling, view_name
from hvs_ros.share import user_path

_PI = math.pi
_TURNS = 4 * math.pi


@dataclass(frozen=True)
class HeadParameters:
    """Defaults are those of the benchmark: its evaluation camera, no limits, moves that take no time."""

    scenes: str = parameter("", "Folder of scenes; empty: none until load_scene is called")
    scene: str = parameter("", "Scene to start in: a name in the folder or a path; empty: the folder's first")
    start_yaw: float = parameter(
        0.0,
        "Where the head looks first, from the picture's centre or the initial view it asks for [rad, left positive]",
        low=-_TURNS,
        high=_TURNS,
    )
    start_pitch: float = parameter(0.0, "Where the head looks first [rad, down positive]", low=-_PI / 2, high=_PI / 2)

    width: int = parameter(1920, "Width of a view [pixels]", low=16, high=8192)
    height: int = parameter(1080, "Height of a view [pixels]", low=16, high=8192)
    hfov: float = parameter(1.7453292519943295, "Horizontal field of view [rad]", low=0.1, high=3.0)
    calibration: str = parameter(
        "", "Calibration file of a real camera (ost.yaml) to see with, instead of width, height and hfov"
    )
    sampling: str = parameter(
        "exact", "Geometry of a view: exact, or as the published environment does it", choices=("exact", "hstar")
    )
    supersample: int = parameter(1, "Each view is drawn so many times finer and averaged", low=1, high=4)
    cache_mb: int = parameter(1024, "Memory for decoded panoramas [MB]", low=1, high=1_000_000)

    motion: str = parameter(
        "instant", "How the head moves: at once, or with the limits below", choices=("instant", "profile")
    )
    max_velocity: float = parameter(2.0, "Limit of each axis with motion profile [rad/s]", low=0.01, high=100.0)
    max_acceleration: float = parameter(8.0, "Limit of each axis with motion profile [rad/s^2]", low=0.01, high=1000.0)
    settle_time: float = parameter(0.0, "How long the head is at rest before a view is taken [s]", low=0.0, high=10.0)
    move_timeout: float = parameter(20.0, "Limit of a move whose goal gives none [s]", low=0.1, high=3600.0)

    yaw_min: float = parameter(-_PI, "Rightmost reachable yaw [rad]", low=-_TURNS, high=_TURNS)
    yaw_max: float = parameter(
        _PI, "Leftmost reachable yaw [rad]; a whole turn from yaw_min: no stop", low=-_TURNS, high=_TURNS
    )
    pitch_min: float = parameter(-_PI / 2, "Highest reachable pitch [rad]", low=-_PI / 2, high=_PI / 2)
    pitch_max: float = parameter(_PI / 2, "Lowest reachable pitch [rad]", low=-_PI / 2, high=_PI / 2)
    out_of_range: str = parameter(
        "clamp",
        "A goal out of range goes to the nearest reachable direction, or is refused",
        choices=("clamp", "reject"),
    )

    publish_rate: float = parameter(
        0.0, "Views per second, moving or not; 0: only when the head has settled", low=0.0, high=60.0, live=True
    )
    pose_rate: float = parameter(20.0, "pose, joint_states and tf per second", low=1.0, high=200.0)
    image_reliability: str = parameter("reliable", "QoS of the camera topics", choices=("reliable", "best_effort"))
    jpeg_quality: int = parameter(90, "Quality of image_raw/compressed", low=1, high=100, live=True)

    base_frame: str = parameter("base_link", "Frame that all angles refer to")
    gaze_frame: str = parameter("gaze", "Frame that turns with the head, x along the line of sight")
    optical_frame: str = parameter("camera_optical_frame", "Frame of the camera: z forward, x right, y down")

    def camera(self) -> Camera:
        """Return the camera.

        Raises:
            ParameterError: its calibration cannot be used.
        """
        if self.calibration:
            try:
                return read_calibration(user_path(self.calibration))
            except CalibrationError as error:
                raise ParameterError(f"parameter 'calibration': {error}") from error
        return Camera(self.width, self.height, abs(angles.search_turn_deg(self.hfov)))

    @property
    def checked_sampling(self) -> Sampling:
        """The sampling.

        Raises:
            ParameterError: it does not go with the supersampling.
        """
        if self.sampling == "hstar" and self.supersample != 1:
            raise ParameterError(
                f"parameter 'supersample' is {self.supersample}; with the sampling 'hstar', which reproduces published"
                " pixels, 1 is expected"
            )
        return "hstar" if self.sampling == "hstar" else "exact"

    def limits(self) -> GazeLimits:
        """Return the reachable directions.

        Raises:
            ParameterError: they make no sense together.
        """
        try:
            return GazeLimits(self.yaw_min, self.yaw_max, self.pitch_min, self.pitch_max)
        except ValueError as error:
            raise ParameterError(f"the parameters do not go together: {error}") from error

    def motion_limits(self) -> MotionLimits:
        """Return how fast the head may turn."""
        return MotionLimits(self.max_velocity, self.max_acceleration) if self.motion == "profile" else MotionLimits()

    def description(self) -> str:
        """Return the head as a URDF.

        Raises:
            ParameterError: the limits make no sense together.
        """
        return two_axis_urdf(
            self.limits(),
            self.motion_limits().max_velocity,
            base_frame=self.base_frame,
            gaze_frame=self.gaze_frame,
            optical_frame=self.optical_frame,
        )

    @property
    def view(self) -> str:
        """How a view is made, for records."""
        return view_name(self.sampling, self.supersample)
