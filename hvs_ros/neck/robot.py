"""What is known of a robot's head: one YAML file in config/robots/, read by ``robot_file``.

Angles are REP-103 radians. Joint values everywhere in hvs_ros are those of the URDF; a driver that counts otherwise has
its ``sign`` and ``offset`` here, and they are applied where joint states come in and commands go out, nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

DEVICES = "/dev/"
"""A name below it is a serial port's, not a topic's."""


class RobotError(ValueError):
    """What is said of a robot is wrong, or does not fit its URDF; the message names it and what is expected."""


@dataclass(frozen=True)
class NeckJoint:
    """A joint that may be turned to look somewhere.

    Attributes:
        name: as in the URDF.
        lower: rad; the URDF's limit, or its soft limit, holds where it is narrower.
        upper: rad.
        max_velocity: rad/s; the URDF's holds where it is lower.
        max_acceleration: rad/s^2.
        tolerance: rad, so near to its goal it has arrived.
        driver_name: as in joint_states and commands; empty: like ``name``.
        sign: 1 or -1, driver = sign * (urdf - offset).
        offset: rad, the URDF's angle where the driver says 0.
    """

    name: str
    lower: float = -math.inf
    upper: float = math.inf
    max_velocity: float = 1.0
    max_acceleration: float = 4.0
    tolerance: float = 0.01
    driver_name: str = ""
    sign: int = 1
    offset: float = 0.0

    @property
    def wire_name(self) -> str:
        """Its name in joint_states and commands."""
        return self.driver_name or self.name

    def to_driver(self, position: float) -> float:
        """Return the driver's angle of a URDF angle [rad]."""
        return self.sign * (position - self.offset)

    def from_driver(self, position: float) -> float:
        """Return the URDF angle of a driver's angle [rad]."""
        return self.sign * position + self.offset


@dataclass(frozen=True)
class BaseFrame:
    """The frame that yaw and pitch refer to: x forward, y left, z up.

    Attributes:
        link: of the URDF.
        rpy: rad, the frame's rotation in that link, where the link's x does not look forward.
        frame_id: its name in messages; empty: the link's.
    """

    link: str
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frame_id: str = ""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.frame_id or self.link


@dataclass(frozen=True)
class HeadCameraMount:
    """The camera on the head.

    Attributes:
        frame: its optical frame (z forward, x right, y down), a link of the URDF or one that ``parent`` adds.
        parent: link that it is mounted on, where the URDF has no such frame; empty: it has.
        xyz: m, place of the optical frame in ``parent``.
        rpy: rad, its rotation there.
        turned: rad, by how much the camera is mounted rotated about its line of sight, right side down positive, e.g.
            pi/2 for one that lies on its right side. Pictures are turned back by it.
        image: topic of the pictures, raw or compressed.
        info: topic of their camera_info.
        transport: "raw" or "compressed".
        latency: s, by how much the stamps of pictures are later than the moment of exposure.
    """

    frame: str
    parent: str = ""
    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turned: float = 0.0
    image: str = "/camera/color/image_raw"
    info: str = "/camera/color/camera_info"
    transport: str = "raw"
    latency: float = 0.0


@dataclass(frozen=True)
class Commands:
    """How joints are commanded.

    Attributes:
        backend: a name of the entry-point group ``hvs_ros.command_backends``: joint_trajectory,
            follow_joint_trajectory, forward_position, dynamixel, or ``module:Class``.
        topic: or action, or serial port, as the back end understands it.
        settings: more, as the back end understands it.
    """

    backend: str = "joint_trajectory"
    topic: str = "/head_controller/joint_trajectory"
    settings: dict[str, bool | int | float | str | list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """Where the URDF is, when nobody publishes ``robot_description``.

    Attributes:
        file: absolute or ``~``, or relative: with ``module`` to the folder of that Python package, with only
            ``package`` to the environment's prefix, with neither to the folder of the robot's own YAML. Empty: there
            is none, the URDF comes from the topic.
        package: pip package that carries it, e.g. ``icub-models``; empty: none.
        module: Python package by which it is found; empty: it is below ``sys.prefix``.
    """

    file: str = ""
    package: str = ""
    module: str = ""


@dataclass(frozen=True)
class BaseTurn:
    """Turning the whole base, where the neck is not enough: off unless told otherwise.

    Attributes:
        cmd_vel: topic of geometry_msgs/Twist, or TwistStamped where ``stamped``.
        odom: topic of nav_msgs/Odometry.
        stamped: TwistStamped is commanded.
        max_velocity: rad/s.
        max_acceleration: rad/s^2.
        tolerance: rad.
    """

    cmd_vel: str = "/cmd_vel"
    odom: str = "/odom"
    stamped: bool = False
    max_velocity: float = 0.5
    max_acceleration: float = 1.0
    tolerance: float = 0.02


@dataclass(frozen=True)
class Robot:
    """A robot's head.

    Attributes:
        name: of the file.
        tried: "hardware", "twin" or "no": what of it has been tried.
        note: for a person, e.g. which driver it is for.
        base: what angles refer to.
        camera: on its head.
        neck: joints that turn it, those preferred first.
        torso: joints that help where the neck is not enough, if they are told to.
        joint_states: topic of sensor_msgs/JointState.
        robot_description: latched topic of the URDF.
        description: where else the URDF is.
        commands: how the neck is commanded.
        torso_commands: how the torso is; None: like the neck, in one command.
        turn: how the base is.
    """

    name: str
    base: BaseFrame
    camera: HeadCameraMount
    neck: tuple[NeckJoint, ...]
    torso: tuple[NeckJoint, ...] = ()
    tried: str = "no"
    note: str = ""
    joint_states: str = "/joint_states"
    robot_description: str = "/robot_description"
    description: Description = Description()
    commands: Commands = Commands()
    torso_commands: Commands | None = None
    turn: BaseTurn = BaseTurn()

    @property
    def joints(self) -> tuple[NeckJoint, ...]:
        """Neck and torso."""
        return self.neck + self.torso

    def in_namespace(self, prefix: str) -> Robot:
        """Return it with every absolute topic below a namespace, as where two robots share a ROS graph.

        Names that are relative, or of devices (``/dev/ttyUSB0``), stay, and so do frames.

        Args:
            prefix: with or without slashes around it; empty: the robot as it is.
        """
        space = prefix.strip("/")
        if not space:
            return self

        def below(name: str) -> str:
            return f"/{space}{name}" if name.startswith("/") and not name.startswith(DEVICES) else name

        def commands(given: Commands) -> Commands:
            return replace(given, topic=below(given.topic))

        return replace(
            self,
            camera=replace(self.camera, image=below(self.camera.image), info=below(self.camera.info)),
            joint_states=below(self.joint_states),
            robot_description=below(self.robot_description),
            commands=commands(self.commands),
            torso_commands=commands(self.torso_commands) if self.torso_commands else None,
            turn=replace(self.turn, cmd_vel=below(self.turn.cmd_vel), odom=below(self.turn.odom)),
        )
