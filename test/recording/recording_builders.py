"""Builds recorded episodes without ROS: messages as the nodes send them, serialized by rosbags."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hvs_ros.recording.bag import EpisodeBag, Topic
from hvs_ros.recording.definitions import Definitions, store_of
from hvs_ros.recording.qos import Offer

START_NS = 1_790_000_000_000_000_000
DEFINITIONS = Definitions()
KINDS = {
    "search/state": "hvs_interfaces/msg/SearchState",
    "search/turn": "hvs_interfaces/msg/Turn",
    "search/command": "hvs_interfaces/msg/SearchCommand",
    "head/pose": "hvs_interfaces/msg/HeadPose",
    "head/capabilities": "hvs_interfaces/msg/HeadCapabilities",
    "head/camera/image_raw/compressed": "sensor_msgs/msg/CompressedImage",
    "head/camera/image_raw": "sensor_msgs/msg/Image",
    "head/camera/camera_info": "sensor_msgs/msg/CameraInfo",
    "recorder/episode": "std_msgs/msg/String",
}
LATCHED = {"search/state", "head/capabilities", "recorder/episode"}
_STORES = {kind: store_of({kind: DEFINITIONS[kind].text}) for kind in {*KINDS.values()}}


def message(type_name: str, /, **fields: Any) -> bytes:
    """Return a serialized message; fields that are not named are zero, dicts fill nested messages."""
    store = _STORES[type_name]
    return bytes(store.serialize_cdr(_filled(store, type_name, fields), type_name))


def _filled(store: Any, kind: str, fields: dict[str, Any]) -> Any:
    values: dict[str, Any] = {}
    for name, (node, detail) in store.fielddefs[kind][1]:
        given = fields.get(name)
        if node.name == "NAME":
            values[name] = _filled(store, detail, given or {})
        elif node.name == "BASE":
            values[name] = given if given is not None else {"string": "", "bool": False}.get(detail[0], 0)
        else:
            values[name] = given if given is not None else _empty(node.name, detail)
    return store.types[kind](**values)


def _empty(node: str, detail: Any) -> Any:
    (_, (base, _)), length = detail
    if base == "string":
        return []
    return np.zeros(length if node == "ARRAY" else 0, {"uint8": np.uint8}.get(base, np.float64))


def time(ns: int) -> dict[str, int]:
    """Return a Time's fields."""
    return {"sec": ns // 10**9, "nanosec": ns % 10**9}


def header(ns: int, frame: str = "base") -> dict[str, Any]:
    """Return a Header's fields."""
    return {"stamp": time(ns), "frame_id": frame}


def pose(ns: int, yaw_deg: float, pitch_deg: float) -> dict[str, Any]:
    """Return a HeadPose's fields for search degrees."""
    return {"header": header(ns), "yaw": -math.radians(yaw_deg), "pitch": -math.radians(pitch_deg), "settled": True}


def jpeg(text: str = "", width: int = 320, height: int = 180) -> bytes:
    """Return a small picture."""
    picture = np.full((height, width, 3), (90, 120, 60), np.uint8)
    cv2.putText(picture, text, (20, 100), cv2.FONT_HERSHEY_SIMPLEX, 1.0, (255, 255, 255), 2)
    return bytes(cv2.imencode(".jpg", picture)[1])


@dataclass(frozen=True)
class Sent:
    """A message, its topic and when it arrives."""

    topic: str
    ns: int
    data: bytes


STEPS = ((0.0, 0.0, "rotate", 90.0, 0.0), (90.0, 0.0, "rotate", 45.0, -10.0), (135.0, -10.0, "submit", 140.0, -8.0))
"""Turns: yaw and pitch of the view, command and its two angles, in search degrees."""


def episode(
    search_id: str = "s1",
    instruction: str = "find the exit sign",
    steps: tuple[tuple[float, float, str, float, float], ...] = STEPS,
    *,
    done: bool = True,
    start_ns: int = START_NS,
    thought: str = "I look for it",
) -> list[Sent]:
    """Return the messages of a search."""
    sent: list[Sent] = []
    now = start_ns

    def send(topic: str, /, **fields: Any) -> None:
        sent.append(Sent(f"/{topic}", now, message(KINDS[topic], **fields)))

    def state(number: int, turn: int, **more: Any) -> None:
        send(
            "search/state",
            header=header(now),
            state=number,
            started=time(start_ns),
            search_id=search_id,
            instruction=instruction,
            turn=turn,
            max_turns=10,
            policy="signs",
            parameters=json.dumps({"reader": "rapidocr"}),
            **more,
        )

    send(
        "head/capabilities",
        header=header(now),
        kind="panorama",
        name="panorama",
        scene="hall",
        width=1920,
        height=1080,
        hfov=math.radians(100),
        yaw_min=-math.radians(150),
        yaw_max=math.radians(140),
        pitch_min=-math.radians(60),
        pitch_max=math.radians(45),
    )
    for number, (yaw, pitch, kind, first, second) in enumerate(steps, start=1):
        state(1, number)
        now += 10_000_000
        view_ns = now
        send("head/pose", **pose(now, yaw, pitch))
        send("head/camera/camera_info", header=header(now, "optical"), width=1920, height=1080)
        data = np.frombuffer(jpeg(f"view {number}"), np.uint8)
        send("head/camera/image_raw/compressed", header=header(now, "optical"), format="jpeg", data=data)
        state(2, number)
        now += 200_000_000
        command = {
            "header": header(now),
            "search_id": search_id,
            "turn": number,
            "kind": 1 if kind == "rotate" else 2,
            "yaw": -math.radians(first),
            "pitch": -math.radians(second),
        }
        send("search/command", **command)
        after = (yaw + first, pitch + second) if kind == "rotate" else (yaw, pitch)
        if kind == "rotate":
            state(3, number)
            now += 300_000_000
        send(
            "search/turn",
            header=header(now, "optical"),
            search_id=search_id,
            turn=number,
            view_stamp=time(view_ns),
            pose=pose(view_ns, yaw, pitch),
            picture="1920x1080, exact, green cross",
            thought=thought,
            raw_answer=f"{kind}({first:g},{second:g})",
            status=1,
            command=command,
            move_outcome=1 if kind == "rotate" else 0,
            achieved=pose(now, *after),
            feedback="Done.",
            look_time=0.01,
            think_time=0.2,
            move_time=0.3 if kind == "rotate" else 0.0,
            prompt_tokens=1200,
            completion_tokens=40,
            image_tokens=-1,
        )
    if done:
        now += 1_000_000
        state(4, len(steps), outcome=1)
    return sent


def write(directory: Path, sent: list[Sent] | None = None, name: str = "bag", **bag_args: Any) -> EpisodeBag:
    """Write the messages into a bag and leave it open."""
    bag = EpisodeBag(directory, name, DEFINITIONS)
    for item in episode() if sent is None else sent:
        append(bag, item)
    return bag


def append(bag: EpisodeBag, item: Sent) -> None:
    """Write one message."""
    short = item.topic.lstrip("/")
    bag.add(Topic(item.topic, KINDS[short], Offer(latched=short in LATCHED, depth=1 if short in LATCHED else 10)))
    bag.write(item.topic, item.ns, item.data)
