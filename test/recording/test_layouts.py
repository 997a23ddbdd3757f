"""The live views in rviz/ and foxglove/ show topics that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml
from recording_builders import DEFINITIONS, KINDS

ROOT = Path(__file__).parents[2]
TOPICS = {f"/{name}": kind for name, kind in KINDS.items()}


def fields(kind: str) -> set[str]:
    text = DEFINITIONS[kind].text.split("=" * 80)[0]
    return {match[1] for match in re.finditer(r"^[\w/]+(?:\[\])?\s+(\w+)\s*(?:#|$)", text, re.MULTILINE)}


def test_foxglove_panels_are_all_placed_and_show_what_there_is() -> None:
    layout = json.loads((ROOT / "foxglove" / "search.json").read_text())

    def leaves(node: Any) -> list[str]:
        return [node] if isinstance(node, str) else leaves(node["first"]) + leaves(node["second"])

    assert sorted(leaves(layout["layout"])) == sorted(layout["configById"])
    paths = re.findall(r'"(?:value|topicPath|imageTopic|calibrationTopic)": "(/[^"]+)"', json.dumps(layout))
    assert len(paths) > 8
    for path in paths:
        topic, _, field = path.replace(".@degrees", "").partition(".")
        assert topic in TOPICS, path
        assert not field or field in fields(TOPICS[topic]), path


def test_rviz_shows_what_there_is() -> None:
    displays = yaml.safe_load((ROOT / "rviz" / "search.rviz").read_text())["Visualization Manager"]["Displays"]
    topics = {display["Topic"]["Value"] for display in displays if "Topic" in display}
    assert topics and topics <= set(TOPICS)
