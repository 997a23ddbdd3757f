"""A robot's YAML is read as it is meant, and every mistake in it is named with what is expected."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hvs_ros.neck.robot import Commands, Robot
from hvs_ros.neck.robot_file import RobotError, load_robot, robot_names

BASE = "base: {link: base_link}\n"
CAMERA = "camera: {frame: optical}\n"
NECK = "neck: [{name: pan}, {name: tilt}]\n"


def read(folder: Path, text: str) -> Robot:
    path = folder / "mine.yaml"
    path.write_text(text)
    return load_robot(str(path))


def test_what_is_not_said_has_a_default(tmp_path: Path) -> None:
    robot = read(tmp_path, BASE + CAMERA + NECK)
    assert robot.name == "mine"
    assert robot.tried == "no"
    assert [joint.name for joint in robot.joints] == ["pan", "tilt"]
    assert robot.neck[0].upper == math.inf
    assert robot.base.name == "base_link"
    assert robot.torso_commands is None


def test_everything_that_is_said_is_read(tmp_path: Path) -> None:
    text = """
tried: no
base: {link: root, rpy: [0, 0, 3.14], frame_id: front}
camera: {frame: optical, parent: head, xyz: [0.1, 0, 1], turned: -1.57, transport: compressed, latency: 0.08}
neck:
  - {name: pan, lower: -1, upper: .inf, sign: -1, offset: 0.5, driver_name: HeadYaw}
torso: [{name: waist, max_velocity: 0.2}]
commands: {backend: dynamixel, topic: /dev/ttyUSB0, settings: {ids: [1, 2], baudrate: 57600}}
torso_commands: {topic: /torso}
"""
    robot = read(tmp_path, text)
    pan = robot.neck[0]
    assert (pan.lower, pan.upper, pan.wire_name) == (-1.0, math.inf, "HeadYaw")
    assert pan.to_driver(0.7) == pytest.approx(-0.2)
    assert pan.from_driver(pan.to_driver(0.7)) == pytest.approx(0.7)
    assert robot.base.rpy == (0.0, 0.0, 3.14)
    assert robot.camera.xyz == (0.1, 0.0, 1.0)
    assert robot.commands.settings == {"ids": [1, 2], "baudrate": 57600}
    assert robot.torso_commands == Commands(topic="/torso")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + CAMERA + NECK + "nek: 1", "nek is not a key; did you mean neck?"),
        (BASE + "camera: {fram: x}\n" + NECK, "camera.fram is not a key; did you mean frame?"),
        (BASE + CAMERA + "neck: [{name: a, max_velocty: 1}]", "neck[0].max_velocty is not a key; did you mean max_vel"),
        (BASE + NECK, "camera is missing; a mapping with the keys frame, parent"),
        (BASE + CAMERA + "neck: [{lower: 1}]", "neck[0].name is missing; a text is expected"),
        (BASE + CAMERA + "neck: []", "neck is []; at least one joint is expected"),
        (BASE + CAMERA + "neck: {name: pan}", "neck is {'name': 'pan'}; a list is expected"),
        (BASE + CAMERA + "neck: [{name: a, lower: 1e-3}]", "neck[0].lower is '1e-3'; a number (YAML wants 1.0e-3"),
        (BASE + CAMERA + "neck: [{name: a, lower: -45}]", "neck[0].lower is -45; an angle in radians"),
        (BASE + CAMERA + "neck: [{name: a, lower: 1, upper: 0.5}]", "neck[0].lower is 1.0; less than upper, 0.5"),
        (BASE + CAMERA + "neck: [{name: a, upper: .nan}]", "neck[0].upper is nan; an angle in radians"),
        (BASE + CAMERA + "neck: [{name: a, sign: 2}]", "neck[0].sign is 2; 1 or -1 is expected"),
        (BASE + CAMERA + "neck: [{name: a, sign: true}]", "neck[0].sign is True; a whole number is expected"),
        (BASE + CAMERA + "neck: [{name: a, max_velocity: 0}]", "neck[0].max_velocity is 0; a number from 0.001 to 100"),
        (BASE + CAMERA + "neck: [{name: a, max_acceleration: 1.0e-300}]", "neck[0].max_acceleration is 1e-300"),
        (BASE + CAMERA + f"neck: [{{name: a, tolerance: 1{'0' * 400}}}]", "neck[0].tolerance is 1000"),
        (BASE + "camera: {frame: x, xyz: [.nan, 0, 0]}\n" + NECK, "camera.xyz is [nan, 0, 0]; a list of 3 numbers"),
        (BASE + CAMERA + NECK + "torso: [{name: tilt}]", "torso[0].name is 'tilt'; another joint than that of neck[1]"),
        (BASE + CAMERA + "neck: [{name: a}, {name: b, driver_name: a}]", "neck[1].driver_name is 'a'; another joint"),
        (BASE + CAMERA + NECK + "tried: maybe", "tried is 'maybe'; one of hardware, twin, no is expected"),
        (BASE + CAMERA + NECK + BASE, "base is said twice, the second time in line 4"),
        (BASE + CAMERA + NECK + "commands: {settings: {ids: {a: 1}}}", "commands.settings.ids is {'a': 1}; a number"),
        (BASE + CAMERA + NECK + "description: {module: x}", "description.package is ''; the pip package"),
        ("base: {link: b, rpy: [0, 0]}\n" + CAMERA + NECK, "base.rpy is [0, 0]; a list of 3 numbers is expected"),
        ("base: {link: b, rpy: [0, 0, 180]}\n" + CAMERA + NECK, "base.rpy is [0, 0, 180]; a list of 3 angles in rad"),
        ("base: {link: 3}\n" + CAMERA + NECK, "base.link is 3; a text is expected"),
        ("base: {link: ''}\n" + CAMERA + NECK, "base.link is ''; a name is expected"),
        ("", "is None; a mapping with the keys base, camera, neck"),
        ("[1,", "not YAML"),
        ("&a [*a]", "nested too deeply, or into itself"),
        ("[" * 3000, "nested too deeply, or into itself"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RobotError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/mine.yaml: {said}")


def test_a_robot_that_does_not_ship_is_named_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match=r"there is no robot 'icup'; did you mean icub\? Known: .*stretch"):
        load_robot("icup")
    with pytest.raises(RobotError, match=r"nothing\.yaml: cannot be read: No such file"):
        load_robot(str(tmp_path / "nothing.yaml"))


def test_a_urdf_may_lie_beside_the_yaml(tmp_path: Path) -> None:
    robot = read(tmp_path, BASE + CAMERA + NECK + "description: {file: mine.urdf}")
    assert robot.description.file == str(tmp_path / "mine.urdf")


@pytest.mark.parametrize("name", robot_names())
def test_in_a_namespace_every_absolute_topic_moves(name: str) -> None:
    robot = load_robot(name)
    moved = robot.in_namespace("/left/")
    assert moved.joint_states == f"/left{robot.joint_states}"
    assert moved.robot_description == f"/left{robot.robot_description}"
    assert moved.camera.image == f"/left{robot.camera.image}"
    assert moved.camera.info == f"/left{robot.camera.info}"
    assert moved.turn.cmd_vel == f"/left{robot.turn.cmd_vel}"
    if robot.commands.topic.startswith("/dev/"):
        assert moved.commands.topic == robot.commands.topic
    else:
        assert moved.commands.topic == f"/left{robot.commands.topic}"
    assert moved.neck == robot.neck
    assert moved.base == robot.base
    assert robot.in_namespace("") == robot
