"""Where a head looks for its joint angles: kinematics of any robot, from its URDF, by pinocchio.

The gaze frame is at the camera's optical centre: x along the line of sight, y left and z up in the upright picture, so
that its rotation in the base frame is Rz(yaw) Ry(pitch) Rx(roll) (``angles.gaze_quaternion``). A camera that is mounted
turned about its line of sight has that undone in it.
"""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hvs_ros.angles import wrap_rad
from hvs_ros.neck.chain import JointLimits as JointLimits
from hvs_ros.neck.chain import camera_chain, joint_limits
from hvs_ros.neck.joints import Joints
from hvs_ros.neck.robot import Robot, RobotError
from hvs_ros.neck.state import GazeState
from hvs_ros.neck.urdf import UrdfTree

Array = NDArray[np.float64]

_AXIS_LOST = 1e-7
"""cos(pitch) below which a line of sight is vertical: yaw and roll turn about the same axis."""
_YAW_IS_CLEAR = 0.1
"""cos(pitch) of the neutral pose above which its joints are told apart by whether they turn the yaw."""
_GAZE_FRAME = "hvs_ros gaze"


@dataclass(frozen=True)
class CameraPose:
    """Where the camera's optical frame (z forward, x right, y down) is in the base frame.

    Attributes:
        position: (3,) m.
        rotation: (3, 3), its columns are the frame's axes.
    """

    position: Array
    rotation: Array


class GazeKinematics:
    """The joints between a robot's base frame and its camera. Thread-safe.

    Args:
        urdf: the text of it.
        robot: which of its joints and frames are meant.

    Attributes:
        joints: names: the neck, the torso, and every other joint that moves the camera, which is measured, never
            commanded. All ``Joints`` have this order.
        limits: of each: the URDF's, its soft ones, and the robot's YAML, whichever is narrowest.
        neutral: rad, every joint at 0, or as near to it as its limits allow.
        neck: indices of the neck in ``joints``.
        torso: indices of the torso.
        depth: of each joint, larger for those that are carried by others.

    Raises:
        RobotError: a joint or frame is not in the URDF, a joint does not turn the camera, or has no range left.
    """

    def __init__(self, urdf: str, robot: Robot) -> None:
        tree = UrdfTree(urdf)
        chain = camera_chain(tree, robot)
        commanded = {joint.name: joint for joint in robot.joints}
        others = [joint.name for joint in chain if joint.name not in commanded]
        self.joints: tuple[str, ...] = (*commanded, *others)
        self.neck = tuple(range(len(robot.neck)))
        self.torso = tuple(range(len(robot.neck), len(commanded)))
        self.limits = tuple(joint_limits(tree.joints[name], commanded.get(name)) for name in self.joints)
        self.neutral: Joints = tuple(min(max(0.0, limit.lower), limit.upper) for limit in self.limits)
        self._position = _PositionVector([tree.joints[name].kind for name in self.joints])
        self._build(urdf, robot)
        self._threads = threading.local()
        self._yaw_slopes = self._slopes()

    def optical(self, q: Joints) -> CameraPose:
        """Return where the camera is.

        Args:
            q: one value for each of ``joints``.
        """
        with_rotation = self._placement(q, self._optical_id)
        return CameraPose(with_rotation.translation.copy(), with_rotation.rotation.copy())

    def gaze(self, q: Joints, dq: Joints | None = None) -> GazeState:
        """Return where the camera looks and how fast that changes.

        The yaw is that turn of it that its joints have made, so that it goes on beyond pi where they do. Where the line
        of sight is vertical the roll is 0, and the yaw that of the picture's upper edge.

        Args:
            q: one value for each of ``joints``.
            dq: rad/s, the same; None: at rest.
        """
        rotation, jacobian = self.rotation_and_jacobian(np.asarray(q, dtype=float))
        yaw, pitch, roll = _angles(rotation)
        turned = self._neutral_yaw + float(self._yaw_slopes @ (np.asarray(q) - self.neutral))
        yaw = turned + wrap_rad(yaw - turned)
        if dq is None:
            return GazeState(yaw, pitch, roll=roll)
        _, y, z = (jacobian @ np.asarray(dq, dtype=float)).tolist()
        return GazeState(yaw, pitch, *_rates(pitch, roll, y, z), roll=roll)

    def rotation_and_jacobian(self, q: Array) -> tuple[Array, Array]:
        """Return how the gaze frame is turned in the base frame, and how joints turn it further.

        Args:
            q: (n,).

        Returns:
            (3, 3) rotation, its columns are the gaze frame's axes; (3, n) angular velocity in the gaze frame per joint
            velocity.
        """
        pin, model, data = self._pin, self._model, self._data()
        pin.computeJointJacobians(model, data, self._position.of(q))
        placement = pin.updateFramePlacement(model, data, self._gaze_id)
        jacobian = pin.getFrameJacobian(model, data, self._gaze_id, pin.ReferenceFrame.LOCAL)
        return self._from_world @ placement.rotation, jacobian[3:, self._columns]

    def _build(self, urdf: str, robot: Robot) -> None:
        """Make the model of the chain, every other joint locked, with the gaze frame on it."""
        self._pin = pin = _pinocchio()
        try:
            whole = pin.buildModelFromXML(urdf)
        except (ValueError, RuntimeError) as error:
            raise RobotError(
                f"the URDF cannot be used: {error} (check_urdf, or what was just printed, names the place)"
            ) from error
        locked = [index for index in range(1, whole.njoints) if whole.names[index] not in self.joints]
        self._model = model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
        joints = [model.joints[model.getJointId(name)] for name in self.joints]
        self._columns = [joint.idx_v for joint in joints]
        self.depth = tuple(self._columns)
        self._position.place([joint.idx_q for joint in joints], model.nq)
        mount = robot.camera
        carrier = _link(pin, model, mount.parent or mount.frame)
        placement = carrier.placement
        if mount.parent:
            placement = placement * pin.SE3(pin.rpy.rpyToMatrix(*mount.rpy), np.array(mount.xyz))
        turned = pin.SE3(_gaze_in_optical(mount.turned), np.zeros(3))
        kind, parent = pin.FrameType.OP_FRAME, carrier.parentJoint
        self._optical_id = model.addFrame(pin.Frame(f"{_GAZE_FRAME} optical", parent, placement, kind))
        self._gaze_id = model.addFrame(pin.Frame(_GAZE_FRAME, parent, placement * turned, kind))
        # No joint of the reduced model is below the base link.
        base = _link(pin, model, robot.base.link).placement
        self._world = (base * pin.SE3(pin.rpy.rpyToMatrix(*robot.base.rpy), np.zeros(3))).inverse()
        self._from_world: Array = self._world.rotation.copy()

    def _data(self) -> Any:
        """Return pinocchio's working memory of this thread."""
        data = getattr(self._threads, "data", None)
        if data is None:
            data = self._threads.data = self._model.createData()
        return data

    def _placement(self, q: Joints, frame: int) -> Any:
        data = self._data()
        position = self._position.of(np.asarray(q, dtype=float))
        self._pin.forwardKinematics(self._model, data, position)
        return self._world * self._pin.updateFramePlacement(self._model, data, frame)

    def _slopes(self) -> Array:
        """Return by how much each joint turns the yaw at the neutral pose; set the yaw there."""
        rotation, jacobian = self.rotation_and_jacobian(np.array(self.neutral))
        self._neutral_yaw, pitch, roll = _angles(rotation)
        if math.cos(pitch) < _YAW_IS_CLEAR:
            return np.zeros(len(self.joints))
        return np.array([_rates(pitch, roll, y, z)[0] for _, y, z in jacobian.T.tolist()])


class _PositionVector:
    """Joints as pinocchio has them: in its own order, and an angle without a stop as its cosine and sine."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._round = [index for index, kind in enumerate(kinds) if kind == "continuous"]
        self._plain = [index for index, kind in enumerate(kinds) if kind != "continuous"]

    def place(self, starts: Sequence[int], size: int) -> None:
        """Set where each joint begins in a vector of so many numbers."""
        self._size = size
        self._to_plain = [starts[index] for index in self._plain]
        self._to_round = [starts[index] for index in self._round]

    def of(self, q: Array) -> Array:
        vector = np.empty(self._size)
        vector[self._to_plain] = q[self._plain]
        for index, start in zip(self._round, self._to_round, strict=True):
            vector[start], vector[start + 1] = math.cos(q[index]), math.sin(q[index])
        return vector


def _pinocchio() -> ModuleType:
    try:
        return importlib.import_module("pinocchio")
    except ImportError as error:
        raise RobotError(
            f"a robot's neck needs pinocchio ({error}): pip install -e '.[robot]', or apt install "
            "ros-$ROS_DISTRO-pinocchio"
        ) from error


def _link(pin: ModuleType, model: Any, name: str) -> Any:
    """Return the frame of a link; a joint may have the same name."""
    return model.frames[model.getFrameId(name, pin.FrameType.BODY)]


def _gaze_in_optical(turned: float) -> Array:
    """Return the gaze frame's rotation in the optical frame, whose x is the picture's right and y down."""
    sine, cosine = math.sin(turned), math.cos(turned)
    return np.array([[0.0, -cosine, -sine], [0.0, sine, -cosine], [1.0, 0.0, 0.0]])


def _angles(rotation: Array) -> tuple[float, float, float]:
    """Return yaw, pitch and roll of Rz(yaw) Ry(pitch) Rx(roll)."""
    (xx, yx, _), (xy, yy, _), (xz, yz, zz) = rotation.tolist()
    level = math.hypot(xx, xy)
    pitch = math.atan2(-xz, level)
    if level < _AXIS_LOST:
        return math.atan2(-yx, yy), pitch, 0.0
    return math.atan2(xy, xx), pitch, math.atan2(yz, zz)


def _rates(pitch: float, roll: float, y: float, z: float) -> tuple[float, float]:
    """Return yaw and pitch velocities of an angular velocity's y and z in the gaze frame."""
    sine, cosine = math.sin(roll), math.cos(roll)
    across = sine * y + cosine * z
    return across / max(math.cos(pitch), _AXIS_LOST), cosine * y - sine * z
