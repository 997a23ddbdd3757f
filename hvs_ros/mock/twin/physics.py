"""Joints with masses, moved by position servos under gravity: MuJoCo on the robot's own URDF.

Servos. Each joint has a position loop around a velocity loop, as drives have: the velocity w / 2 times the error, and a
force of 2 M w times what the velocity lacks, M being the inertia that the joint feels where the twin starts. Together
that is a PD servo, kp = M w^2 and kv = 2 M w, critically damped with the bandwidth w whatever the robot. The velocity
is limited, and the force to what accelerates M by ``MAX_ACCELERATION``. A moving goal is followed late by 2 / w, 45 ms.
``ARMATURE`` is the rotor behind the gear. A drive's own gravity compensation is never exact; what it leaves over is
``LEFT_GRAVITY`` of the gravity, and the droop follows from it.

Deterministic: the same commands at the same times give the same motion, to the last bit, on one machine.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hvs_ros.mock.twin.urdf_chain import Chain, Place
from hvs_ros.neck.joints import NS, Joints, JointSample
from hvs_ros.panorama.geometry import Floats

STEP_NS = 2_000_000
"""One step of the simulation."""
GRAVITY = 9.81
BANDWIDTH_HZ = 7.0
MAX_VELOCITY = 4.0
"""rad/s (m/s for a sliding joint): fastest that a servo turns."""
MAX_ACCELERATION = 80.0
"""rad/s^2 (m/s^2 for a sliding joint): what a servo's force can do to the inertia that it moves."""
ARMATURE = 0.005
"""kg m^2 (kg): inertia of a rotor as seen behind its gear."""
LEFT_GRAVITY = 0.1
"""Part of the gravity that a drive does not compensate."""
CATCH_UP_NS = 5 * NS
"""A clock that jumps ahead by more than this moves the twin's time, not its joints."""

COMPILER = (
    '<mujoco><compiler fusestatic="true" balanceinertia="true" boundmass="0.001" boundinertia="1e-6"'
    ' discardvisual="true" strippath="true" autolimits="true"/></mujoco>'
)


class TwinError(Exception):
    """The twin cannot be simulated here; the message says why and what to do."""


@dataclass(frozen=True)
class CameraPlace:
    """Where the camera is in the base frame.

    Attributes:
        position: (3,) m.
        rotation: (3, 3), of the optical frame.
    """

    position: Floats
    rotation: Floats


class NeckPhysics:
    """The joints of a chain and the servos that move them. Not thread-safe.

    Args:
        chain: which.
        now_ns: present time.
        start: rad, where the joints are first; None: neutral.

    Attributes:
        joints: names, in the order of every ``Joints`` here.

    Raises:
        TwinError: MuJoCo is not installed, or does not take the URDF.
    """

    def __init__(self, chain: Chain, now_ns: int, start: Joints | None = None) -> None:
        self._mujoco = _mujoco()
        self.joints = chain.joints
        self._now_ns = now_ns
        model = self._model = self._load(chain)
        kind = self._mujoco.mjtObj.mjOBJ_JOINT
        ids = [self._mujoco.mj_name2id(model, kind, name) for name in chain.joints]
        self._q = [int(model.jnt_qposadr[joint]) for joint in ids]
        self._v = [int(model.jnt_dofadr[joint]) for joint in ids]
        self._data, self._sketch = self._mujoco.MjData(model), self._mujoco.MjData(model)
        begin = chain.neutral if start is None else start
        self._data.qpos[self._q] = begin
        felt, self._pace = self.inertia(), 2 * math.pi * BANDWIDTH_HZ
        self._goal, self._damping, self._strength = np.array(begin), 2 * felt * self._pace, felt * MAX_ACCELERATION
        self._base, self._camera = (self._site(place) for place in (chain.base, chain.camera))

    def set_goal(self, joint: int, position: float) -> None:
        """Set where a servo drives its joint from the next step on [rad]."""
        self._goal[joint] = position

    @property
    def now_ns(self) -> int:
        """The time up to which it has been simulated."""
        return self._now_ns

    def step(self) -> None:
        """Simulate the next ``STEP_NS``."""
        data = self._data
        velocity = np.clip(self._pace / 2 * (self._goal - data.qpos[self._q]), -MAX_VELOCITY, MAX_VELOCITY)
        force = self._damping * (velocity - data.qvel[self._v])
        data.qfrc_applied[self._v] = np.clip(force, -self._strength, self._strength)
        self._mujoco.mj_step(self._model, data)
        self._now_ns += STEP_NS

    def advance(self, to_ns: int) -> None:
        """Simulate up to a time, or the last whole step before it."""
        while self._now_ns + STEP_NS <= to_ns:
            self.step()

    def skip(self, to_ns: int) -> None:
        """Be at another time without having moved: the clock jumped."""
        self._now_ns = to_ns

    def state(self) -> JointSample:
        """Return where the joints are and how fast they move."""
        qpos, qvel = self._data.qpos, self._data.qvel
        return JointSample(self._now_ns, tuple(float(qpos[i]) for i in self._q), tuple(float(qvel[i]) for i in self._v))

    def camera(self, position: Joints) -> CameraPlace:
        """Return where the camera is when the joints are at these angles."""
        sketch = self._sketch
        sketch.qpos[self._q] = position
        self._mujoco.mj_kinematics(self._model, sketch)
        base, camera = self._pose(self._base), self._pose(self._camera)
        turn = base[:3, :3].T
        return CameraPlace(turn @ (camera[:3, 3] - base[:3, 3]), turn @ camera[:3, :3])

    def inertia(self) -> Floats:
        """Return the inertia that each joint feels where it is now [kg m^2, or kg]."""
        self._mujoco.mj_forward(self._model, self._data)
        unit, felt = np.zeros(self._model.nv), np.zeros(self._model.nv)
        diagonal = np.zeros(len(self._v))
        for index, column in enumerate(self._v):
            unit[:] = 0.0
            unit[column] = 1.0
            self._mujoco.mj_mulM(self._model, self._data, felt, unit)
            diagonal[index] = felt[column]
        return diagonal

    def _load(self, chain: Chain) -> Any:
        try:
            model = self._mujoco.MjModel.from_xml_string(chain.urdf.replace("<link", COMPILER + "<link", 1))
        except ValueError as error:
            raise TwinError(f"MuJoCo does not take the URDF: {error}") from error
        model.opt.timestep = STEP_NS / NS
        model.opt.gravity[:] = (0.0, 0.0, -GRAVITY * LEFT_GRAVITY)
        model.dof_armature[:] = ARMATURE
        return model

    def _site(self, place: Place) -> tuple[int, Floats]:
        """Return MuJoCo's body that carries a frame, and the frame's pose in it; the root link is the world."""
        body = self._mujoco.mj_name2id(self._model, self._mujoco.mjtObj.mjOBJ_BODY, place.link)
        return max(0, int(body)), place.pose

    def _pose(self, site: tuple[int, Floats]) -> Floats:
        body, pose = site
        world = np.eye(4)
        world[:3, :3] = self._sketch.xmat[body].reshape(3, 3)
        world[:3, 3] = self._sketch.xpos[body]
        placed: Floats = world @ pose
        return placed


def _mujoco() -> Any:
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        raise TwinError(f"the twin needs mujoco ({error}): pip install -e '.[twin]'") from error
