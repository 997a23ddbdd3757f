"""Writes a new bag with everything that can be read of a damaged one, in its place; the old one is kept beside it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import yaml
from rosbags.typesys.store import Typestore

from hvs_ros.recording.bag import EpisodeBag, Topic
from hvs_ros.recording.definitions import Definition, Definitions, store_of
from hvs_ros.recording.errors import RecordingError
from hvs_ros.recording.info import INFO_TOPIC
from hvs_ros.recording.qos import Offer
from hvs_ros.recording.read import bag_files, decoded
from hvs_ros.recording.scan import Channel, McapScan

DAMAGED_SUFFIX = ".damaged"


def recover_bag(folder: Path) -> tuple[Path, int]:
    """Replace a bag by what can be read of it, and return (where the original is kept, messages rescued).

    Raises:
        RecordingError: the new bag cannot be written; the old one is as it was.
    """
    workshop = folder.parent / f".recovering_{folder.name}_{os.getpid()}"
    try:
        workshop.mkdir()
    except OSError as error:
        raise RecordingError(f"{folder.parent}: cannot be written: {error.strerror or error}") from error
    try:
        messages = _copy(folder, workshop)
        kept = _free(folder)
        folder.rename(kept)
        try:
            (workshop / folder.name).rename(folder)
        except OSError:
            kept.rename(folder)
            raise
    except OSError as error:
        raise RecordingError(f"{folder}: cannot be replaced: {error.strerror or error}") from error
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return kept, messages


def _copy(folder: Path, workshop: Path) -> int:
    definitions = _BagDefinitions()
    stores: dict[str, Typestore] = {}
    described: dict[str, Any] = {}
    with EpisodeBag(workshop, folder.name, definitions) as bag:
        for file in bag_files(folder):
            for channel, stamp, data in McapScan(file).messages():
                if channel.topic not in bag:
                    definitions.learn(channel)
                    bag.add(Topic(channel.topic, channel.kind, offer_of(channel.qos)))
                if channel.topic.endswith(INFO_TOPIC):
                    with contextlib.suppress(RecordingError, ValueError):
                        described = json.loads(decoded(stores, channel, data).data)
                bag.write(channel.topic, stamp, data)
        bag.description = {**described, "recovered": True}
        return bag.messages


class _BagDefinitions(Definitions):
    """Definitions as the damaged bag itself holds them."""

    def learn(self, channel: Channel) -> None:
        if channel.kind not in self._known:
            self._known[channel.kind] = Definition(channel.definition, digest_of(channel))


def digest_of(channel: Channel) -> str:
    """Return the hash of a channel's type, worked out from its definition.

    Raises:
        RecordingError: the definition is not understood.
    """
    return store_of({channel.kind: channel.definition}).hash_rihs01(channel.kind)


def offer_of(profiles: str) -> Offer:
    """Return the first of the offered QoS profiles, given as YAML; the default where there is none."""
    try:
        listed: Any = yaml.safe_load(profiles) or []
        first = listed[0]
        reliable = str(first["reliability"]) not in ("2", "best_effort")
        latched = str(first["durability"]) in ("1", "transient_local")
        depth = int(first["depth"])
    except (yaml.YAMLError, LookupError, TypeError, ValueError):
        return Offer()
    return Offer(reliable, latched, max(1, depth))


def _free(folder: Path) -> Path:
    """Return a name for the original that nothing has."""
    number = 1
    while True:
        path = folder.with_name(f"{folder.name}{DAMAGED_SUFFIX}" + (f".{number}" if number > 1 else ""))
        if not path.exists():
            return path
        number += 1
