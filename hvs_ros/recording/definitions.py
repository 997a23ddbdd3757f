"""Message definitions for bags: what a reader needs to understand a bag without the packages that made it.

The texts come from the installed ``.msg`` files (``share/PACKAGE/msg``), comments included, so that whoever opens a bag
years later reads units and signs beside the fields. The hash (REP-2011, RIHS01) is computed from them, because a
Humble installation carries none. Where a package ships no ``.msg`` file, the definition that ``rosbags`` knows is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from hvs_ros.recording.errors import RecordingError

SEPARATOR = "=" * 80
_CHECKOUT = Path(__file__).parents[2] / "interfaces"


@dataclass(frozen=True)
class Definition:
    """One message type.

    Attributes:
        text: its definition, followed by those of all types it holds.
        digest: RIHS01 hash.
    """

    text: str
    digest: str


class Definitions:
    """Looks up definitions and remembers them.

    Args:
        shares: folders that hold ``PACKAGE/msg/NAME.msg``; None: those of the environment.
    """

    def __init__(self, shares: Sequence[Path] | None = None) -> None:
        self._shares = list(shares) if shares is not None else _environment()
        self._known: dict[str, Definition] = {}
        self._store = get_typestore(Stores.EMPTY)
        self._builtin = get_typestore(Stores.ROS2_JAZZY)

    def __getitem__(self, kind: str) -> Definition:
        """Return the definition of a type such as ``sensor_msgs/msg/Image``.

        Raises:
            RecordingError: it is found nowhere, or is not understood.
        """
        if kind not in self._known:
            self._known[kind] = self._load(kind)
        return self._known[kind]

    def _load(self, kind: str) -> Definition:
        try:
            texts: dict[str, str] = {}
            if self._collect(kind, texts):
                return Definition(_joined(kind, texts), self._store.hash_rihs01(kind))
            if kind in self._builtin.fielddefs:
                text, _ = self._builtin.generate_msgdef(kind, ros_version=2)
                return Definition(text, self._builtin.hash_rihs01(kind))
        except (TypesysError, KeyError, ValueError, OSError) as error:
            raise RecordingError(f"the definition of {kind} is not understood: {error}") from error
        package = kind.split("/")[0]
        raise RecordingError(
            f"the definition of {kind} is not found: install the package {package} and source its workspace"
            f" (looked in {', '.join(map(str, self._shares)) or 'no folder'})"
        )

    def _collect(self, kind: str, texts: dict[str, str]) -> bool:
        """Add the texts of a type and of all it holds; False where one of them has no file."""
        if kind in texts:
            return True
        path = self._file(kind)
        if path is None:
            return False
        texts[kind] = path.read_text(encoding="utf-8")
        types = get_types_from_msg(texts[kind], kind)
        if kind not in self._store.fielddefs:
            self._store.register(types)
        return all(self._collect(held, texts) for held in _held(types[kind][1]))

    def _file(self, kind: str) -> Path | None:
        package, _, name = kind.partition("/msg/")
        candidates = [share / package / "msg" / f"{name}.msg" for share in self._shares]
        if package == "hvs_interfaces":
            candidates.append(_CHECKOUT / "msg" / f"{name}.msg")
        return next((path for path in candidates if path.is_file()), None)


def store_of(definitions: dict[str, str]) -> Typestore:
    """Return a store that decodes the given types, from their definitions alone.

    Args:
        definitions: type name to text, as a bag holds them.

    Raises:
        RecordingError: one is not understood.
    """
    store = get_typestore(Stores.EMPTY)
    for kind, text in definitions.items():
        try:
            types = get_types_from_msg(text, kind)
            store.register({name: spec for name, spec in types.items() if name not in store.fielddefs})
        except (TypesysError, KeyError, ValueError) as error:
            raise RecordingError(f"the bag's definition of {kind} is not understood: {error}") from error
    return store


def _joined(kind: str, texts: dict[str, str]) -> str:
    parts = [texts[kind].rstrip("\n") + "\n"]
    for held, text in texts.items():
        if held != kind:
            parts.append(f"{SEPARATOR}\nMSG: {held.replace('/msg/', '/')}\n{text.rstrip()}\n")
    return "".join(parts)


def _held(fields: object) -> list[str]:
    """Return the message types among a type's fields (rosbags' field description: nested pairs)."""
    found: list[str] = []
    if isinstance(fields, str):
        if "/msg/" in fields:
            found.append(fields)
    elif isinstance(fields, (list, tuple)):
        for part in fields:
            found += _held(part)
    return found


def _environment() -> list[Path]:
    prefixes = [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)), sys.prefix]
    return [share for prefix in dict.fromkeys(prefixes) if (share := Path(prefix) / "share").is_dir()]
