"""Finds and reads a robot's YAML: one of config/robots/, by name, or the user's own, by path."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hvs_ros.neck.robot import (
    BaseFrame,
    BaseTurn,
    Description,
    HeadCameraMount,
    NeckJoint,
    Robot,
)
from hvs_ros.neck.robot import RobotError as RobotError
from hvs_ros.neck.robot_values import Place, Rule, nearest, read
from hvs_ros.share import ShareError, share_file, user_path

TRIED = ("hardware", "twin", "no")
TRANSPORTS = ("raw", "compressed")

_SUFFIXES = (".yaml", ".yml")
_MOST_RAD = 4 * math.pi
"""No joint of a neck goes further; who writes more means degrees."""


def robot_names() -> list[str]:
    """Return the names of the robots that ship.

    Raises:
        RobotError: they are not installed.
    """
    return sorted(path.stem for path in _folder().glob("*.yaml"))


def load_robot(name_or_path: str) -> Robot:
    """Return what a robot's YAML says.

    Args:
        name_or_path: a name of ``robot_names()``, or the path of a file (with a slash in it, or ending in .yaml).

    Raises:
        RobotError: there is no such file, or something in it is wrong.
    """
    path = _find(name_or_path)
    place = Place(str(path))
    content = _parse(path)
    if isinstance(content, dict) and content.get("tried") is False:
        content["tried"] = "no"  # What YAML makes of a bare no.
    robot = read(Robot, content, place, _RULES, name=path.stem)
    _check_joints(robot, place)
    return replace(robot, description=_beside(robot.description, path, place))


def _folder() -> Path:
    try:
        return share_file("config", "robots")
    except ShareError as error:
        raise RobotError(str(error)) from error


def _find(name_or_path: str) -> Path:
    if "/" in name_or_path or name_or_path.endswith(_SUFFIXES):
        return user_path(name_or_path)
    path = _folder() / f"{name_or_path}.yaml"
    if name_or_path and path.is_file():
        return path
    end = nearest(name_or_path, robot_names())
    raise RobotError(f"there is no robot {name_or_path!r}{end}; or give the path of your own YAML")


def _parse(path: Path) -> object:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        for line, key in _repeated(yaml.compose(text, Loader=yaml.SafeLoader)):
            raise RobotError(f"{path}: {key} is said twice, the second time in line {line}; once is expected")
        return yaml.safe_load(text)
    except RobotError:
        raise
    except OSError as error:
        raise RobotError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise RobotError(f"{path}: not YAML: {error}") from error
    except RecursionError as error:
        raise RobotError(f"{path}: nested too deeply, or into itself; a robot's YAML is expected") from error
    except ValueError as error:  # a null in the path, a number in the YAML that is none
        raise RobotError(f"{str(path)!r}: cannot be read: {error}") from error


def _repeated(node: Any) -> Iterator[tuple[int, str]]:
    """Yield (line, key) of keys that stand twice in a mapping, of which YAML would take the last."""
    if node is None or isinstance(node.value, str):
        return
    seen: set[str] = set()
    for inner in node.value:
        if isinstance(inner, tuple):
            key, inner = inner
            if str(key.value) in seen:
                yield key.start_mark.line + 1, str(key.value)
            seen.add(str(key.value))
        yield from _repeated(inner)


def _check_joints(robot: Robot, place: Place) -> None:
    seen: dict[str, str] = {}
    for group, joints in (("neck", robot.neck), ("torso", robot.torso)):
        for index, joint in enumerate(joints):
            there = place.inner(group).item(index)
            if not joint.lower < joint.upper:
                raise there.inner("lower").error(joint.lower, f"less than upper, {joint.upper:g},")
            for name, key in ((joint.name, "name"), (joint.wire_name, "driver_name")):
                if seen.setdefault(f"{key} {name}", there.key) != there.key:
                    raise there.inner(key).error(name, f"another joint than that of {seen[f'{key} {name}']}")


def _beside(description: Description, path: Path, place: Place) -> Description:
    """Return it with a file that is relative to the robot's YAML made absolute."""
    file = user_path(description.file)
    if description.module and not description.package:
        there = place.inner("description").inner("package")
        raise there.error("", f"the pip package that carries the module {description.module}")
    if not description.file or description.package:
        return description
    return replace(description, file=str(file if file.is_absolute() else path.absolute().parent / file))


def _one_of(*choices: str) -> Rule:
    return f"one of {', '.join(choices)}", lambda value: value in choices


def _from_to(low: float, high: float, unit: str) -> Rule:
    return f"a number from {low:g} to {high:g} [{unit}]", lambda value: low <= value <= high


def _is_angle(value: float) -> bool:
    return -_MOST_RAD <= value <= _MOST_RAD


def _is_name(value: str) -> bool:
    return bool(value) and not value.isspace()


_ANGLE: Rule = ("an angle in radians, within two turns,", _is_angle)
_ANGLES: Rule = ("a list of 3 angles in radians", lambda value: all(map(_is_angle, value)))
_BOUND: Rule = (_ANGLE[0], lambda value: _is_angle(value) or math.isinf(value))
_NAME: Rule = ("a name", _is_name)
_RULES = {
    (Robot, "tried"): _one_of(*TRIED),
    (Robot, "neck"): ("at least one joint", bool),
    (Robot, "joint_states"): _NAME,
    (Robot, "robot_description"): _NAME,
    (BaseFrame, "link"): _NAME,
    (BaseFrame, "rpy"): _ANGLES,
    (HeadCameraMount, "frame"): _NAME,
    (HeadCameraMount, "xyz"): ("a list of 3 numbers within 100 m", lambda value: all(abs(x) <= 100.0 for x in value)),
    (HeadCameraMount, "rpy"): _ANGLES,
    (HeadCameraMount, "turned"): _ANGLE,
    (HeadCameraMount, "image"): _NAME,
    (HeadCameraMount, "info"): _NAME,
    (HeadCameraMount, "transport"): _one_of(*TRANSPORTS),
    (HeadCameraMount, "latency"): ("seconds, from 0 to 10,", lambda value: 0 <= value <= 10),
    (NeckJoint, "name"): _NAME,
    (NeckJoint, "lower"): _BOUND,
    (NeckJoint, "upper"): _BOUND,
    (NeckJoint, "max_velocity"): _from_to(0.001, 100.0, "rad/s"),
    (NeckJoint, "max_acceleration"): _from_to(0.001, 10000.0, "rad/s^2"),
    (NeckJoint, "tolerance"): _from_to(0.0001, 0.5, "rad"),
    (NeckJoint, "sign"): ("1 or -1", lambda value: value in (1, -1)),
    (NeckJoint, "offset"): _ANGLE,
    (BaseTurn, "max_velocity"): _from_to(0.001, 100.0, "rad/s"),
    (BaseTurn, "max_acceleration"): _from_to(0.001, 10000.0, "rad/s^2"),
    (BaseTurn, "tolerance"): _from_to(0.0001, 0.5, "rad"),
}
