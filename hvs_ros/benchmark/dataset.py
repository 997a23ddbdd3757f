"""The benchmark's data set on disk, and its episodes in the published order.

The published data set has two splits, one folder each: object search and path search. A split is a folder of scene
folders (:mod:`hvs_ros.panorama.scene`); the data set is one split, or a folder that holds several. A scene's name
carries its split, ``hos_bench/courtyard``, as the same panorama may serve both.

The published loader sorts the scenes by name, lists every item from every start (0, 90, 180, 270 where an item names
none), passes over scenes without annotation, and shuffles the list with its seed, 42. The same list comes out here, so
that "the first hundred episodes" are the same ones. Where ours differs, on purpose:

- Items without ``level`` end the published code: where ``initial yaw`` is given when it loads them, else when it runs
  them. Here their levels are worked out.
- A list of levels that is longer or shorter than the list of starts is cut to the shorter there and refused here.
- A folder with an annotation and no picture is passed over there and refused here.
- Of several pictures in a folder it takes one silently, a PNG first; here they are refused. Pictures that end in
  ``.jpeg``, ``.tif``, ``.tiff``, ``.webp`` or in capitals are passed over there, with their scene, and read here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hvs_ros.benchmark.episodes import Candidate, Episode, Selection, SelectionError, annotated, names, no_match
from hvs_ros.panorama.annotation import ANNOTATION_NAME
from hvs_ros.panorama.scene import Scene, SceneError, holds_pictures, holds_scenes, load_scenes

PUBLISHED_SEED = 42
"""With which the published evaluation shuffles its episodes."""


@dataclass(frozen=True)
class Split:
    """A folder of scenes that are evaluated together.

    Attributes:
        name: of the folder; empty where the data set is this one split.
        folder: where.
        scenes: sorted by name; the names carry the split's.
    """

    name: str
    folder: Path
    scenes: tuple[Scene, ...]


@dataclass(frozen=True)
class DataSet:
    """What ``open_dataset`` found.

    Attributes:
        folder: that was opened.
        splits: sorted by name, one at least.
    """

    folder: Path
    splits: tuple[Split, ...]

    @property
    def scenes(self) -> list[Scene]:
        """Of all splits, in order."""
        return [scene for split in self.splits for scene in split.scenes]


def open_dataset(folder: Path) -> DataSet:
    """Read a data set: one split, or a folder of splits. Pictures are not opened.

    Raises:
        SceneError: nothing to search is there, a scene is malformed, or scenes lie beside splits.
    """
    splits = tuple(
        Split(name, place, tuple(with_split(scene, name) for scene in load_scenes(place)))
        for name, place in split_folders(folder)
    )
    return DataSet(folder, splits)


def split_folders(folder: Path) -> list[tuple[str, Path]]:
    """Return the names and folders of the splits, sorted by name; the name is empty where the data set is one split.

    Raises:
        SceneError: scenes lie beside splits.
    """
    splits = [(place.name, place) for place in _folders(folder) if _is_split(place)]
    if not splits:
        return [("", folder)]
    if holds_scenes(folder):
        listed = names(name for name, _ in splits)
        raise SceneError(
            f"{folder}: scenes lie beside folders of scenes ({listed}); a data set is one or the other: name the split"
            " that is meant, or move the scenes into a folder of their own"
        )
    return splits


def with_split(scene: Scene, split: str) -> Scene:
    """Return the scene under its name in a data set."""
    return replace(scene, name=f"{split}/{scene.name}") if split else scene


def plan_benchmark(
    dataset: DataSet,
    selection: Selection | None = None,
    *,
    seed: int | None = PUBLISHED_SEED,
    shard: tuple[int, int] | None = None,
    max_turns: int | None = None,
) -> list[Episode]:
    """Return the episodes of a run in the published order: one split after the other, each shuffled.

    Args:
        dataset: as from ``open_dataset``.
        selection: which of the episodes; its ``episodes`` are the first ones in this order. None: all.
        seed: of the order; None: by scene, item and start.
        shard: (i, n), 1 <= i <= n: the i-th of n parts. The parts have no episode in common and are all of them
            together; each is a run of neighbours when sorted by scene, so that few machines decode the same picture.
        max_turns: for every task instead of its own.

    Raises:
        SelectionError: none is left.
    """
    selection = selection or Selection()
    listed = annotated(dataset.scenes)
    if not listed:
        scenes = names(scene.name for scene in dataset.scenes)
        raise SelectionError(
            f"{dataset.folder}: none of the scenes has tasks ({scenes}); put an {ANNOTATION_NAME} in each"
        )
    allowed = [candidate for candidate in _ordered(dataset, seed) if selection.allows(candidate)]
    if not allowed:
        kind = selection.kind.value if selection.kind else "any"
        raise SelectionError(f"{dataset.folder}: no scene has a task of kind '{kind}'")
    chosen = [candidate for candidate in allowed if selection.matches(candidate.episode_id, candidate.scene.name)]
    if not chosen:
        raise SelectionError(no_match(selection, allowed))
    chosen = chosen[: selection.episodes]
    if shard is not None:
        ids = {candidate.episode_id for candidate in chosen}
        mine = _part([candidate.episode_id for candidate in listed if candidate.episode_id in ids], shard)
        chosen = [candidate for candidate in chosen if candidate.episode_id in mine]
    return [candidate.episode(max_turns) for candidate in chosen]


def _ordered(dataset: DataSet, seed: int | None) -> Iterator[Candidate]:
    for split in dataset.splits:
        candidates = annotated(split.scenes)
        if seed is not None:
            random.Random(seed).shuffle(candidates)
        yield from candidates


def _part(ids: Sequence[str], shard: tuple[int, int]) -> set[str]:
    number, count = shard
    if not 1 <= number <= count:
        raise SelectionError(f"shard {number}/{count}: a number from 1 to the number of shards is needed, e.g. 1/4")
    part = set(ids[(number - 1) * len(ids) // count : number * len(ids) // count])
    if not part:
        raise SelectionError(f"shard {number}/{count} holds none of the {len(ids)} episodes; use fewer shards")
    return part


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return []  # Whoever reads the scenes says what is wrong.


def _is_split(folder: Path) -> bool:
    """Return whether a folder holds annotated scenes and is none itself."""
    return not holds_pictures(folder) and any((place / ANNOTATION_NAME).exists() for place in _folders(folder))
