"""Which episodes a run consists of.

The order and the ids follow from the scenes alone, so that a run can be stopped, resumed, cut into parts and compared
with another one episode by episode. Where no difficulty is annotated it is worked out here, with the camera of the
benchmark, whatever camera the run itself uses: a number in a table must not depend on a setting of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from hvs_ros.angles import Direction
from hvs_ros.panorama import EVALUATION, visible_fraction
from hvs_ros.panorama.annotation import DEFAULT_STARTS_DEG
from hvs_ros.panorama.scene import PANORAMA_SUFFIXES, Scene
from hvs_ros.search.scoring import difficulty
from hvs_ros.search.task import Target, Task, TaskError, TaskKind


class SelectionError(ValueError):
    """There is nothing to run; the message says why, and what to do."""


@dataclass(frozen=True)
class Episode:
    """One search of a run.

    Attributes:
        episode_id: stable name, ``scene/item/start yaw``; ``scene/free/start yaw`` for a task of the user's own.
        scene: where.
        task: what the searcher is told.
        start: where the head looks first.
        target: the answer; None for a task of the user's own, which cannot be scored.
        level: difficulty (object 0..2, path 0..3); None where there is no target.
    """

    episode_id: str
    scene: Scene
    task: Task
    start: Direction
    target: Target | None
    level: int | None

    @property
    def address(self) -> Path:
        """What a head is told to find the scene by: its folder, or its picture where the folder holds several."""
        picture = self.scene.panorama_path.absolute()
        if self.scene.items:
            return picture.parent
        pictures = [path for path in picture.parent.iterdir() if path.suffix.lower() in PANORAMA_SUFFIXES]
        return picture.parent if len(pictures) == 1 else picture


@dataclass(frozen=True)
class FreeTask:
    """A task of the user's own, searched in every scene instead of the annotated ones."""

    instruction: str
    kind: TaskKind = TaskKind.OBJECT


@dataclass(frozen=True)
class Selection:
    """Part of the episodes.

    Attributes:
        patterns: shell patterns; an episode is taken when one of them matches its id, or the name of its scene.
        kind: only tasks of this kind.
        starts: at most so many starts of each task, the first ones.
        episodes: at most so many episodes in all, the first ones.
    """

    patterns: tuple[str, ...] = ()
    kind: TaskKind | None = None
    starts: int | None = None
    episodes: int | None = None

    def allows(self, candidate: Candidate) -> bool:
        """Return whether an episode is of the kind and among the first starts that are asked for."""
        return self.kind in (None, candidate.task.kind) and (self.starts is None or candidate.number < self.starts)

    def matches(self, episode_id: str, scene: str) -> bool:
        """Return whether one of the patterns matches; without patterns everything does."""
        return not self.patterns or any(
            fnmatchcase(episode_id, pattern) or fnmatchcase(scene, pattern) for pattern in self.patterns
        )


def plan_episodes(
    scenes: Sequence[Scene],
    selection: Selection | None = None,
    *,
    free_task: FreeTask | None = None,
    max_turns: int | None = None,
) -> list[Episode]:
    """Return the episodes of a run, in their order.

    Args:
        scenes: as from ``load_scenes``.
        selection: which of the episodes; None: all.
        free_task: searched from every start in every scene, instead of what is annotated.
        max_turns: for every task instead of its own.

    Raises:
        SelectionError: none is left, or the free task is none.
    """
    selection = selection or Selection()
    if free_task is None:
        found = [candidate for candidate in annotated(scenes) if selection.allows(candidate)]
    else:
        found = _free(scenes, free_task, selection)
    if not found:
        raise SelectionError(_nothing(scenes, selection))
    chosen = [candidate for candidate in found if selection.matches(candidate.episode_id, candidate.scene.name)]
    if not chosen:
        raise SelectionError(no_match(selection, found))
    return [candidate.episode(max_turns) for candidate in chosen[: selection.episodes]]


def bare_scenes(scenes: Iterable[Scene]) -> list[Scene]:
    """Return the scenes without a task."""
    return [scene for scene in scenes if not scene.items]


@dataclass(frozen=True)
class Candidate:
    """An episode that a run may hold. Its level, where none is annotated, is worked out only when it does.

    Attributes:
        episode_id: as Episode's, and so the others.
        number: of its start, among those of its task; the first is 0.
    """

    episode_id: str
    scene: Scene
    task: Task
    start: Direction
    target: Target | None = None
    level: int | None = None
    number: int = 0

    def episode(self, max_turns: int | None = None) -> Episode:
        """Return the episode; ``max_turns`` instead of its task's own."""
        task = self.task if max_turns is None else replace(self.task, max_turns=max_turns)
        level = self.level
        if level is None and self.target is not None:
            level = level_of(self.target, self.start)
        return Episode(self.episode_id, self.scene, task, self.start, self.target, level)


def annotated(scenes: Iterable[Scene]) -> list[Candidate]:
    """Return every annotated task from every start, by scene, item and start."""
    return [
        Candidate(spec.episode_id, scene, spec.task, spec.start, spec.target, spec.level, number)
        for scene in scenes
        for index, item in enumerate(scene.items)
        for number, spec in enumerate(item.episodes(scene.name, index))
    ]


def _free(scenes: Sequence[Scene], free: FreeTask, selection: Selection) -> list[Candidate]:
    try:
        task = Task(free.instruction, free.kind)
    except TaskError as error:
        raise SelectionError(str(error)) from error
    # One start is what a person means who asks for something in a picture; more on request.
    starts = DEFAULT_STARTS_DEG[: selection.starts or 1]
    return [
        Candidate(f"{scene.name}/free/{start:g}", scene, task, Direction(start, 0.0), number=number)
        for scene in scenes
        for number, start in enumerate(starts)
    ]


def no_match(selection: Selection, found: Sequence[Candidate]) -> str:
    """Return what to say when none of the episodes found matches the patterns."""
    scenes = dict.fromkeys(candidate.scene.name for candidate in found)
    return (
        f"no episode matches '{' '.join(selection.patterns)}'; ids look like '{found[0].episode_id}', "
        f"scenes are {names(scenes)}"
    )


def _nothing(scenes: Sequence[Scene], selection: Selection) -> str:
    bare = bare_scenes(scenes)
    if len(bare) == len(scenes):
        return (
            f"none of the {len(scenes)} scenes has tasks ({names(scene.name for scene in scenes)}): give one to"
            " search for with --instruction 'find the exit sign', or put an annotation.json beside the panorama"
        )
    kind = selection.kind.value if selection.kind else "any"
    return f"no scene has a task of kind '{kind}'"


def level_of(target: Target, start: Direction) -> int:
    """Return the difficulty of a target from a start, by how much of it the benchmark's first view shows."""
    return difficulty(target.kind, visible_fraction(EVALUATION, start, target.yaw_deg, target.pitch_deg))


def names(given: Iterable[str], most: int = 8) -> str:
    """Return the first names of many, and how many more there are."""
    listed = list(dict.fromkeys(given))
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
