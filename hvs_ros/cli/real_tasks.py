"""What `hvs real` searches for: what the user asks, or a task of the twin's scene that the head can look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvs_ros.angles import Direction, ros_angles
from hvs_ros.benchmark.episodes import Episode, SelectionError, plan_episodes
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.panorama.annotation import SceneError
from hvs_ros.panorama.scene import Scene, load_scene, load_scenes
from hvs_ros.search.task import Task, TaskError, TaskKind


@dataclass(frozen=True)
class RealTask:
    """A search.

    Attributes:
        task: what the searcher is told.
        episode: with the known target and the first direction; None: a task of the user's own.
        note: what a person should know of it.
    """

    task: Task
    episode: Episode | None = None
    note: str = ""


def own_task(instruction: str, kind: str) -> RealTask:
    """Return the user's own task.

    Raises:
        VerbError: it is none.
    """
    try:
        return RealTask(Task(instruction, TaskKind(kind)))
    except TaskError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def find_scene(folder: Path, name: str) -> Scene:
    """Return the scene that a twin will be in.

    Args:
        folder: of scenes or panoramas.
        name: in it, or a path; empty: the first.

    Raises:
        VerbError: there is none.
    """
    try:
        scenes = load_scenes(folder)
        if not name:
            return scenes[0]
        found = [scene for scene in scenes if name in (scene.name, scene.panorama_path.name)]
        if found:
            return found[0]
        if Path(name).exists():
            return load_scene(name)
    except SceneError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    names = ", ".join(scene.name for scene in scenes[:8])
    raise VerbError(f"there is no scene '{name}' in {folder}; there are {names}", BAD_INPUT)


def scene_task(scene: Scene, capabilities: Any) -> RealTask:
    """Return the scene's first task whose target the head can look at, or else its first one.

    Args:
        scene: with tasks.
        capabilities: hvs_interfaces/HeadCapabilities.

    Raises:
        VerbError: it has none.
    """
    try:
        episodes = plan_episodes([scene])
    except SelectionError as error:
        raise VerbError(str(error), BAD_INPUT) from error
    within = [episode for episode in episodes if episode.target and can_look(capabilities, episode.target.center)]
    if within:
        return RealTask(within[0].task, within[0])
    note = f"this head cannot look at any target in {scene.name}; it comes as near as it can"
    return RealTask(episodes[0].task, episodes[0], note)


def can_look(capabilities: Any, direction: Direction) -> bool:
    """Return whether a direction lies within a head's range."""
    limits = GazeLimits(capabilities.yaw_min, capabilities.yaw_max, capabilities.pitch_min, capabilities.pitch_max)
    return not limits.direction(*ros_angles(direction), now=0.0).beyond
