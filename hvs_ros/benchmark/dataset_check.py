"""What is in a data set, and what is wrong with it.

Asked once before days of computing: how many tasks of each kind and level there are, whether they are as many as were
published, and every picture, box and angle that would spoil a run or make its figures mean something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hvs_ros.benchmark.annotation_check import odd_items
from hvs_ros.benchmark.dataset import split_folders, with_split
from hvs_ros.benchmark.episodes import annotated
from hvs_ros.benchmark.pictures import check_pictures, look_alike, same_files
from hvs_ros.panorama.annotation import ANNOTATION_NAME
from hvs_ros.panorama.scene import Scene, SceneCheck, check_scenes, published_loader_reads
from hvs_ros.search.task import TaskKind

PUBLISHED_TASKS = {TaskKind.OBJECT: 600, TaskKind.PATH: 400}
PUBLISHED_STARTS = 4
"""Of each task."""


@dataclass(frozen=True)
class KindCount:
    """The tasks of one kind in a split.

    Attributes:
        scenes: that have such tasks.
        tasks: how many.
        levels: episodes of each level; the missing ones are worked out.
    """

    scenes: int
    tasks: int
    levels: Counter[int]

    @property
    def episodes(self) -> int:
        """All of them."""
        return self.levels.total()


@dataclass(frozen=True)
class SplitCheck:
    """A split.

    Attributes:
        name: empty where the data set is this one.
        scenes: that can be read; the counts are of these.
        kinds: what they hold.
        problems: a line each.
    """

    name: str
    scenes: int
    kinds: dict[TaskKind, KindCount]
    problems: list[str]


@dataclass(frozen=True)
class DataSetCheck:
    """A data set.

    Attributes:
        folder: where.
        splits: as in ``open_dataset``.
    """

    folder: Path
    splits: tuple[SplitCheck, ...]

    @property
    def problems(self) -> list[str]:
        """Of all splits."""
        return [problem for split in self.splits for problem in split.problems]

    def tasks(self, kind: TaskKind) -> int:
        """Return how many tasks of a kind there are."""
        return sum(split.kinds[kind].tasks for split in self.splits if kind in split.kinds)

    def episodes(self, kind: TaskKind) -> int:
        """Return how many episodes of a kind there are."""
        return sum(split.kinds[kind].episodes for split in self.splits if kind in split.kinds)

    @property
    def as_published(self) -> bool:
        """There are as many tasks and episodes of each kind as were published."""
        return all(
            self.tasks(kind) == tasks and self.episodes(kind) == PUBLISHED_STARTS * tasks
            for kind, tasks in PUBLISHED_TASKS.items()
        )


def check_dataset(folder: Path, *, decode: bool | None = None) -> DataSetCheck:
    """Return what is in a data set and everything that is wrong with it.

    Args:
        folder: one split, or a folder of splits.
        decode: look at the pixels of every picture; None: where that does not take long.

    Raises:
        SceneError: there is no such folder, nothing to search is there, or scenes lie beside splits.
    """
    splits = split_folders(folder)
    return DataSetCheck(folder, tuple(_split(name, place, decode) for name, place in splits))


def _split(name: str, folder: Path, decode: bool | None) -> SplitCheck:
    check = check_scenes(folder)
    annotations = sorted({path.parent / ANNOTATION_NAME for path in check.pictures})
    with ThreadPoolExecutor() as pool:
        odd = [line for lines in pool.map(odd_items, annotations) for line in lines]
    problems = [*check.problems, *odd, *_without_tasks(check), *_not_seen(check.pictures)]
    problems += _pictures(check.pictures, decode)
    scenes = [with_split(scene, name) for scene in check.scenes]
    return SplitCheck(name, len(scenes), _kinds(scenes), problems)


def _kinds(scenes: Sequence[Scene]) -> dict[TaskKind, KindCount]:
    counts: dict[TaskKind, KindCount] = {}
    for kind in TaskKind:
        with_it = [scene for scene in scenes if any(item.task.kind is kind for item in scene.items)]
        tasks = sum(item.task.kind is kind for scene in with_it for item in scene.items)
        episodes = (found.episode() for found in annotated(with_it) if found.task.kind is kind)
        levels = Counter(episode.level for episode in episodes if episode.level is not None)
        if tasks:
            counts[kind] = KindCount(len(with_it), tasks, levels)
    return counts


def _without_tasks(check: SceneCheck) -> list[str]:
    return [
        f"{scene.panorama_path}: has no tasks, so it is passed over; an {ANNOTATION_NAME} beside it would hold them"
        for scene in check.scenes
        if not scene.items
    ]


def _not_seen(pictures: Sequence[Path]) -> list[str]:
    return [
        f"{picture}: the published loader passes over it, with its scene: it reads names that end in .png or .jpg"
        for picture in pictures
        if not published_loader_reads(picture)
    ]


def _pictures(pictures: Sequence[Path], decode: bool | None) -> list[str]:
    checks = list(check_pictures(pictures, decode=decode))
    problems = [check.problem for check in checks if check.problem]
    same = same_files(pictures)
    for first, *others in same:
        names = ", ".join(map(str, others))
        problems.append(f"{first}: the same picture, byte for byte, as {names}")
    again = {path for _, *others in same for path in others}
    problems += [
        f"{other}: shows the same as {first}"
        for first, other in look_alike([check for check in checks if check.path not in again])
    ]
    return problems
