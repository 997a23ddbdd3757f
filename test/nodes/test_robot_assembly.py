"""What a robot's head says of its reach when what carries its neck is turned by somebody else."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("pinocchio")

from ros_graph import Graph

from hvs_ros.neck.joints import JointSample
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.robot import BaseFrame, HeadCameraMount, NeckJoint, Robot, RobotError
from hvs_ros.neck.robot_gaze import GazeRules
from hvs_ros.nodes.robot_assembly import RobotAssembly

ROBOT = Robot("waisted", BaseFrame("base"), HeadCameraMount("camera"), (NeckJoint("pan"), NeckJoint("tilt")))
JOINTS = (
    ("waist", "base", "trunk", "0 0 1", 1.0),
    ("pan", "trunk", "neck", "0 0 1", 2.0),
    ("tilt", "neck", "head", "0 1 0", 1.0),
)
URDF = "".join(
    (
        '<robot name="waisted">',
        *(f'<link name="{name}"/>' for name in ("base", "trunk", "neck", "head", "camera")),
        *(
            f'<joint name="{name}" type="revolute"><parent link="{below}"/><child link="{above}"/><axis xyz="{axis}"/>'
            f'<limit lower="{-limit}" upper="{limit}" effort="1" velocity="3"/></joint>'
            for name, below, above, axis, limit in JOINTS
        ),
        '<joint name="camera" type="fixed"><parent link="head"/><child link="camera"/>',
        '<origin rpy="-1.5707963267948966 0 -1.5707963267948966"/></joint></robot>',
    )
)


@pytest.fixture
def assemble(graph: Graph) -> Iterator[Callable[[GazeLimits], RobotAssembly]]:
    made: list[RobotAssembly] = []

    def assembly(permitted: GazeLimits) -> RobotAssembly:
        rules = GazeRules()
        made.append(RobotAssembly(graph.node, ROBOT, URDF, rules, permitted=permitted, torso=False, turn_base=False))
        return made[-1]

    yield assembly
    for one in made:
        one.close()


def tell(assembly: RobotAssembly, waist: float) -> None:
    """Tell joint states: pan, tilt, waist."""
    assembly.gaze.observe(JointSample(time.time_ns(), (0.3, 0.0, waist), (0.0, 0.0, 0.0)))


def test_a_waist_that_turns_takes_the_range_with_it(assemble: Callable[[GazeLimits], RobotAssembly]) -> None:
    assembly = assemble(GazeLimits())
    assert not assembly.watch(), "no joint states yet"
    tell(assembly, 0.0)
    assert not assembly.watch()
    assert (assembly.range().yaw_min, assembly.range().yaw_max) == pytest.approx((-2.0, 2.0), abs=1e-3)
    tell(assembly, 0.4)
    assert not assembly.watch(), "it may turn still"
    tell(assembly, 0.4)
    assert assembly.watch()
    limits = assembly.range()
    assert (limits.yaw_min, limits.yaw_max) == pytest.approx((-1.6, 2.4), abs=1e-3)
    assert assembly.gaze.reachable == limits
    tell(assembly, 0.41)
    assert not assembly.watch(), "that is nothing to speak of"


def test_where_nothing_is_permitted_any_more_it_is_said_once(assemble: Callable[[GazeLimits], RobotAssembly]) -> None:
    assembly = assemble(GazeLimits(yaw_min=-math.pi, yaw_max=-1.5))
    before = assembly.range()
    for _ in range(2):
        tell(assembly, 0.9)
    assert not assembly.watch()
    with pytest.raises(RobotError, match="nothing is permitted"):
        assembly.watch()
    assert assembly.range() == before
    assert not assembly.watch()
