"""The description that goes with an episode: everything that is on no topic.

It is written into the bag twice: as a latched message (JSON in a std_msgs/String on ``recorder/episode``), which a kill
cannot take away, and under ``hvs_ros`` in metadata.yaml, where ``ros2 bag info`` shows it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from hvs_ros.confidential import without_secrets

INFO_TOPIC = "recorder/episode"
FORMAT = 1


@dataclass(frozen=True)
class EpisodeInfo:
    """The description of one episode.

    Attributes:
        search_id: which search.
        instruction: what was searched for, in words.
        target: object or path.
        max_turns: limit.
        policy: name of it.
        parameters: the policy's settings.
        scene: what surrounded the head, where that is known.
        nodes: parameters of the nodes that took part, by node and name.
        outcome: how the search ended; empty while it runs.
        message: why.
        notes: what the recorder has to say about the recording itself.
    """

    search_id: str
    instruction: str
    target: str
    max_turns: int
    policy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    scene: str = ""
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    outcome: str = ""
    message: str = ""
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, with the versions of what recorded it."""
        return {
            "format": FORMAT,
            "search_id": self.search_id,
            "task": {"instruction": self.instruction, "target": self.target, "max_turns": self.max_turns},
            "policy": self.policy,
            "parameters": without_secrets(self.parameters),
            "scene": self.scene,
            "nodes": {name: without_secrets(values) for name, values in self.nodes.items()},
            "result": {"outcome": self.outcome, "message": self.message} if self.outcome else None,
            "notes": list(self.notes),
            "versions": versions(),
        }


def versions() -> dict[str, str]:
    """Return the versions of what writes a bag."""
    found = {"ros_distro": os.environ.get("ROS_DISTRO", "")}
    for package in ("hvs_ros", "hvs_interfaces", "rosbags"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {name: value for name, value in found.items() if value}
