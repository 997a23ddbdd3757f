"""What the robot's head can be told. What a robot *is* stands in its YAML in config/robots/; here is how it is used."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hvs_ros import angles
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.motion_watch import ArrivalRules
from hvs_ros.neck.robot_gaze import GazeRules
from hvs_ros.neck.settling import RestRule
from hvs_ros.nodes.parameters import ParameterError, parameter
from hvs_ros.panorama.camera import Camera

_PI = math.pi
KINDS = ("robot", "twin")


@dataclass(frozen=True)
class RobotHeadParameters:
    """Defaults are careful: no motion without ``confirm``, and slow until the signs have been checked."""

    robot: str = parameter("", "Which robot: a name in config/robots/, or the path of a YAML file")
    urdf: str = parameter("", "File of the robot's URDF; empty: robot_description, or where the robot's YAML says")
    description_timeout: float = parameter(
        5.0, "How long robot_description is waited for before the YAML's own file is taken [s]", low=0.0, high=600.0
    )
    driver_namespace: str = parameter("", "Put before the absolute topic names of the robot's YAML; empty: nothing")
    kind: str = parameter("robot", "What the head is, for people and records", choices=KINDS)
    scene: str = parameter("", "What surrounds the head, for records")

    confirm: bool = parameter(
        False, "Somebody watches, and the head may move; without it every motion is refused", live=True
    )
    velocity_scale: float = parameter(
        0.0,
        "Share of the velocity limits that is used; 0: 0.2 until `hvs check-signs` has been passed, then 1",
        low=0.0,
        high=1.0,
    )
    use_torso: bool = parameter(False, "The torso's joints turn too where the neck is not enough")
    turn_base: bool = parameter(False, "The base turns too where these are not enough")
    out_of_range: str = parameter(
        "clamp",
        "A goal out of range goes to the nearest reachable direction, or is refused",
        choices=("clamp", "reject"),
    )

    yaw_min: float = parameter(-_PI, "Rightmost yaw that the neck may take, if it can [rad]", low=-_PI, high=_PI)
    yaw_max: float = parameter(_PI, "Leftmost yaw that the neck may take, if it can [rad]", low=-_PI, high=_PI)
    pitch_min: float = parameter(-_PI / 2, "Highest pitch likewise [rad]", low=-_PI / 2, high=_PI / 2)
    pitch_max: float = parameter(_PI / 2, "Lowest pitch likewise [rad]", low=-_PI / 2, high=_PI / 2)

    move_timeout: float = parameter(20.0, "Limit of a move whose goal gives none [s]", low=0.1, high=3600.0)
    settle_time: float = parameter(0.05, "How long the head is at rest before a view is taken [s]", low=0.0, high=10.0)
    settle_samples: int = parameter(
        5, "Joint states in a row within tolerance and slow that make the head settled", low=1, high=1000
    )
    settle_velocity: float = parameter(0.02, "What is slow, for every joint [rad/s]", low=0.0001, high=1.0)
    response_timeout: float = parameter(1.0, "A commanded joint moves within this time [s]", low=0.1, high=60.0)
    arrival_timeout: float = parameter(
        1.0, "So long after the planned end of a motion the joints are at their goal [s]", low=0.1, high=60.0
    )
    stop_timeout: float = parameter(1.0, "The joints stop within this time of being told to [s]", low=0.1, high=60.0)
    joint_state_timeout: float = parameter(
        0.5, "Age of joint states beyond which nothing moves [s]", low=0.02, high=60.0
    )

    view: str = parameter(
        "policy",
        "policy: re-projected, level, to the camera below; native: the camera's picture as it is",
        choices=("policy", "native"),
    )
    width: int = parameter(1920, "Width of a view [pixels]", low=16, high=8192)
    height: int = parameter(1080, "Height of a view [pixels]", low=16, high=8192)
    hfov: float = parameter(1.7453292519943295, "Horizontal field of view [rad]", low=0.1, high=3.0)
    camera_latency: float = parameter(
        -1.0,
        "By how much stamps of pictures are later than their exposure [s]; negative: as the robot's YAML says",
        low=-1.0,
        high=5.0,
        live=True,
    )
    view_timeout: float = parameter(5.0, "A settled head has a picture within this time [s]", low=0.1, high=60.0)
    publish_rate: float = parameter(
        0.0, "Views per second, moving or not; 0: only when the head has settled", low=0.0, high=60.0, live=True
    )
    pose_rate: float = parameter(50.0, "pose, joint_states and tf per second", low=1.0, high=200.0)
    image_reliability: str = parameter("reliable", "QoS of the views", choices=("reliable", "best_effort"))
    jpeg_quality: int = parameter(90, "Quality of image_raw/compressed", low=1, high=100, live=True)

    gaze_frame: str = parameter("gaze", "Frame that turns with the head, x along the line of sight")
    optical_frame: str = parameter(
        "gaze_optical_frame", "Frame of re-projected views, level, at the camera: z forward, x right, y down"
    )

    def target(self) -> Camera | None:
        """Return the camera that views are brought to; None: they stay as they are."""
        if self.view == "native":
            return None
        return Camera(self.width, self.height, abs(angles.search_turn_deg(self.hfov)))

    def permitted(self) -> GazeLimits:
        """Return the directions that the neck may take, whatever it can.

        Raises:
            ParameterError: they make no sense together.
        """
        try:
            return GazeLimits(self.yaw_min, self.yaw_max, self.pitch_min, self.pitch_max)
        except ValueError as error:
            raise ParameterError(f"the parameters do not go together: {error}") from error

    def rules(self, velocity_scale: float) -> GazeRules:
        """Return how the neck is moved and judged, with this share of the velocity limits."""
        return GazeRules(
            arrival=ArrivalRules(
                rest=RestRule(self.settle_samples, self.settle_velocity),
                response_s=self.response_timeout,
                late_s=self.arrival_timeout,
            ),
            settle_s=self.settle_time,
            stop_s=self.stop_timeout,
            stale_s=self.joint_state_timeout,
            velocity_scale=velocity_scale,
        )
