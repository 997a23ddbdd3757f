"""What a URDF says of the joints between two of its links.

Its kinematics are pinocchio's business; here is what errors and limits need, which a kinematics library does not keep:
joint types by name, soft limits, mimics, who carries what.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from hvs_ros.neck.robot import RobotError

TURNING = ("revolute", "continuous")
MOVING = (*TURNING, "prismatic")


@dataclass(frozen=True)
class UrdfJoint:
    """A joint as the URDF has it.

    Attributes:
        name: its name.
        kind: revolute, continuous, prismatic, fixed, floating or planar.
        parent: link that carries it.
        child: link that it moves.
        lower: rad (or m), its limit or its soft limit (safety_controller), whichever is narrower; -inf: none.
        upper: rad (or m); inf: none.
        velocity: rad/s (or m/s); inf: none, or none that is above 0.
        mimics: joint that it follows; empty: it moves on its own.
    """

    name: str
    kind: str
    parent: str
    child: str
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    mimics: str = ""


class UrdfTree:
    """The joints and links of a URDF.

    Args:
        urdf: its text.

    Attributes:
        joints: by name.
        links: names.

    Raises:
        RobotError: it is not a URDF; or a joint says something that is no number.
    """

    def __init__(self, urdf: str) -> None:
        try:
            root = ElementTree.fromstring(urdf)
        except ElementTree.ParseError as error:
            raise RobotError(f"the robot description is not XML: {error}") from error
        if root.tag != "robot":
            raise RobotError(f"the robot description is a <{root.tag}>; a URDF, <robot>, is expected")
        self.links = {link.get("name", "") for link in root.findall("link")}
        found = [_joint(element) for element in root.findall("joint")]
        self.joints = {joint.name: joint for joint in found}
        self._above = {joint.child: joint for joint in found}

    def joint(self, name: str) -> UrdfJoint:
        """Return a joint.

        Raises:
            RobotError: the URDF has none of that name.
        """
        if name not in self.joints:
            raise RobotError(f"the URDF has no joint {name!r}{_like(name, self.joints)}")
        return self.joints[name]

    def check_link(self, name: str, what: str) -> None:
        """Do nothing if the URDF has this link.

        Args:
            name: of the link.
            what: what it is for, for the message.

        Raises:
            RobotError: it has not.
        """
        if name not in self.links:
            raise RobotError(f"the URDF has no link {name!r}, which is to be {what}{_like(name, self.links)}")

    def between(self, base: str, end: str) -> list[UrdfJoint]:
        """Return the joints, fixed ones too, that carry a link, from the base on.

        Args:
            base: a link; it may hang on the chain by fixed joints.
            end: the link that is carried.

        Raises:
            RobotError: the two are not in one tree, or a moving joint moves the base against what carries the end.
        """
        below_base, chain = self._ancestors(base), self._ancestors(end)
        shared = 0
        while shared < min(len(below_base), len(chain)) and below_base[shared] == chain[shared]:
            shared += 1
        for joint in below_base[shared:]:
            if joint.kind != "fixed":
                raise RobotError(
                    f"joint {joint.name!r} ({joint.kind}) moves the base link {base!r} itself; a base link is expected "
                    f"that carries {end!r}"
                )
        if self._root(base) != self._root(end):
            raise RobotError(f"the URDF does not connect {end!r} to {base!r}")
        return chain[shared:]

    def _ancestors(self, link: str) -> list[UrdfJoint]:
        found: list[UrdfJoint] = []
        while link in self._above and len(found) <= len(self.joints):
            found.append(self._above[link])
            link = found[-1].parent
        return found[::-1]

    def _root(self, link: str) -> str:
        ancestors = self._ancestors(link)
        return ancestors[0].parent if ancestors else link


def _like(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=3, cutoff=0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""


def _joint(element: ElementTree.Element) -> UrdfJoint:
    name, kind = element.get("name", ""), element.get("type", "")
    lower, upper, velocity = -math.inf, math.inf, math.inf
    limit, soft, mimic = element.find("limit"), element.find("safety_controller"), element.find("mimic")
    if limit is not None:
        velocity = _number(limit, "velocity", name) or math.inf
        if kind in ("revolute", "prismatic"):
            lower, upper = _number(limit, "lower", name), _number(limit, "upper", name)
    if soft is not None and kind in ("revolute", "prismatic"):
        low, high = (_number(soft, f"soft_{end}_limit", name) for end in ("lower", "upper"))
        if low < high:  # Both are 0 where only the controller's gains are given.
            lower, upper = max(lower, low), min(upper, high)
    parent, child = (_link_of(element, end) for end in ("parent", "child"))
    return UrdfJoint(
        name, kind, parent, child, lower, upper, abs(velocity), "" if mimic is None else mimic.get("joint", "")
    )


def _link_of(element: ElementTree.Element, end: str) -> str:
    found = element.find(end)
    return "" if found is None else found.get("link", "")


def _number(element: ElementTree.Element, key: str, joint: str) -> float:
    """Return an attribute; one that is missing is 0, as the URDF's specification has it."""
    text = element.get(key, "0")
    try:
        return float(text)
    except ValueError as error:
        raise RobotError(f"joint {joint!r}: {element.tag} {key} is {text!r}; a number is expected") from error
