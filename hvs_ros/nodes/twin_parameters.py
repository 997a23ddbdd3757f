"""What the physics twin can be told."""

from __future__ import annotations

from dataclasses import dataclass

from hvs_ros import angles
from hvs_ros.mock.twin.camera import Sensor
from hvs_ros.mock.twin.stand_in import stand_in
from hvs_ros.mock.twin.twin import TwinFaults
from hvs_ros.neck.robot import Robot
from hvs_ros.neck.robot_description import read_urdf
from hvs_ros.neck.robot_file import load_robot
from hvs_ros.nodes.parameters import ParameterError, parameter
from hvs_ros.panorama import Camera, CameraError
from hvs_ros.panorama.calibration import CalibrationError, read_calibration
from hvs_ros.share import user_path


@dataclass(frozen=True)
class TwinParameters:
    """Defaults are those of a good servo neck with a RealSense colour camera, and nothing goes wrong."""

    robot: str = parameter("", "Which robot: a name in config/robots/, or the path of a YAML file")
    urdf: str = parameter("", "Its URDF; empty: the one that the robot's file names")
    driver_namespace: str = parameter("", "Put before the absolute topics of the robot's file; empty: nothing")

    scenes: str = parameter("", "Folder of scenes; empty: none until load_scene is called")
    scene: str = parameter("", "Scene to start in: a name in the folder or a path; empty: the folder's first")
    scene_radius: float = parameter(
        5.0, "Distance of what the panorama shows; 0: infinite, nothing shifts [m]", low=0.0, high=10_000.0
    )
    cache_mb: int = parameter(1024, "Memory for decoded panoramas [MB]", low=1, high=1_000_000)

    width: int = parameter(640, "Width of a picture [pixels]", low=16, high=8192)
    height: int = parameter(480, "Height of a picture [pixels]", low=16, high=8192)
    hfov: float = parameter(1.2112585008840648, "Field of view along the width [rad]", low=0.1, high=3.0)
    distortion: str = parameter("", "plumb_bob coefficients k1 k2 p1 p2 k3, with spaces between; empty: none")
    calibration: str = parameter(
        "", "Calibration file of a real camera (ost.yaml) to see with, instead of width, height, hfov and distortion"
    )
    image_rate: float = parameter(30.0, "Pictures per second", low=0.1, high=120.0)
    exposure: float = parameter(0.008, "Exposure: what moves within it is blurred [s]", low=0.0, high=0.5)
    noise: float = parameter(0.0, "Standard deviation of a picture's noise, of 255", low=0.0, high=100.0)
    latency: float = parameter(0.03, "From the exposure to the picture's arrival [s]", low=0.0, high=1.0, live=True)
    image_reliability: str = parameter("reliable", "QoS of the camera topics", choices=("reliable", "best_effort"))
    jpeg_quality: int = parameter(80, "Quality of compressed pictures", low=1, high=100)

    joint_rate: float = parameter(100.0, "joint_states per second", low=1.0, high=500.0)
    command_delay: float = parameter(0.005, "From a command to its effect [s]", low=0.0, high=1.0)
    base: bool = parameter(True, "The base turns by cmd_vel and publishes odometry")
    seed: int = parameter(0, "Of everything random", low=0, high=2**31 - 1)

    drop_frames: float = parameter(0.0, "Part of the pictures that are lost", low=0.0, high=1.0, live=True)
    late_frames: float = parameter(
        0.0, "Pictures arrive later than the latency by up to so much, at random [s]", low=0.0, high=1.0, live=True
    )
    arrival_stamps: bool = parameter(
        False, "Pictures are stamped when they arrive, not when they were exposed", live=True
    )
    dead_camera: bool = parameter(False, "No pictures, no camera_info", live=True)
    dead_joint_states: bool = parameter(False, "No joint_states", live=True)
    stuck_joint: str = parameter("", "Joint of the URDF that does not move any more; empty: none", live=True)
    short_by: float = parameter(
        0.0, "Trajectories end short of their goal by so much, as if that were it [rad]", low=0.0, high=3.2, live=True
    )
    abort_at_goal: bool = parameter(
        False, "follow_joint_trajectory reports a failure although the goal was reached", live=True
    )
    ignore_commands: bool = parameter(False, "Commands have no effect", live=True)
    keep_moving: bool = parameter(
        False, "A trajectory runs to its end, whatever is sent or canceled meanwhile", live=True
    )

    def load(self) -> Robot:
        """Return the robot.

        Raises:
            ParameterError: none is given.
            RobotError: there is no such robot, or its file is wrong.
        """
        if not self.robot:
            raise ParameterError("parameter 'robot' is empty; give a name in config/robots/ or the path of a YAML file")
        return stand_in(load_robot(self.robot).in_namespace(self.driver_namespace))

    def description(self, robot: Robot) -> str:
        """Return the robot's URDF.

        Raises:
            ParameterError: the file cannot be read.
            RobotError: the robot's own cannot be found.
        """
        if not self.urdf:
            return read_urdf(robot.description)
        try:
            return user_path(self.urdf).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ParameterError(f"parameter 'urdf' is '{self.urdf}', which cannot be read: {error}") from error

    def camera(self) -> Camera:
        """Return the camera.

        Raises:
            ParameterError: its calibration or its distortion cannot be used.
        """
        if self.calibration:
            try:
                return read_calibration(user_path(self.calibration))
            except CalibrationError as error:
                raise ParameterError(f"parameter 'calibration': {error}") from error
        camera = Camera(self.width, self.height, abs(angles.search_turn_deg(self.hfov)))
        if not self.distortion:
            return camera
        try:
            coefficients = [float(word) for word in self.distortion.replace(",", " ").split()]
            return Camera.from_camera_info(self.width, self.height, camera.k, coefficients)
        except (ValueError, CameraError) as error:
            raise ParameterError(f"parameter 'distortion' is '{self.distortion}': {error}") from error

    def sensor(self) -> Sensor:
        """Return how the camera takes pictures.

        Raises:
            ParameterError: see ``camera``.
        """
        return Sensor(self.camera(), self.exposure, self.noise, self.scene_radius, self.seed)

    def joint_faults(self) -> TwinFaults:
        """Return what goes wrong with the joints."""
        return TwinFaults(self.stuck_joint, self.short_by, self.ignore_commands, self.keep_moving)

    def faults(self) -> str:
        """Return what goes wrong on purpose, for a person; empty: nothing."""
        given = ((name, getattr(self, name)) for name in _FAULTS)
        return ", ".join(name if value is True else f"{name} {value}" for name, value in given if value)


_FAULTS = (
    *("drop_frames", "late_frames", "arrival_stamps", "dead_camera", "dead_joint_states"),
    *("stuck_joint", "short_by", "abort_at_goal", "ignore_commands", "keep_moving"),
)
