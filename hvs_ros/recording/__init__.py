"""Episodes as bags: written, verified, recovered and read back. No ROS needed to read one.

What needs the package ``rosbags`` is imported when it is asked for: a record of a search in this process does without.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hvs_ros.recording.episode import EpisodeRecord, RecordedHead, RecordedTurn, RecordedView
from hvs_ros.recording.errors import RecordingError
from hvs_ros.recording.from_search import from_search

if TYPE_CHECKING:
    from hvs_ros.recording.bag import EpisodeBag as EpisodeBag
    from hvs_ros.recording.read import read_episode as read_episode
    from hvs_ros.recording.verify import verify_directory as verify_directory

__all__ = [
    "EpisodeBag",
    "EpisodeRecord",
    "RecordedHead",
    "RecordedTurn",
    "RecordedView",
    "RecordingError",
    "from_search",
    "read_episode",
    "verify_directory",
]

_LATER = {"EpisodeBag": "bag", "read_episode": "read", "verify_directory": "verify"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
