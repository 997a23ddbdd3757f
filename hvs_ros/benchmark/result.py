"""A scored episode, complete.

Both rules judge both directions, the one that was submitted and the one in which the head really looked, so that which
rule counts is a matter of reading a results file, not of writing it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.search.scoring import ScoringMode, score
from hvs_ros.search.task import Target, Task, TaskKind


@dataclass(frozen=True)
class Judgement:
    """How one direction compares with the target.

    Attributes:
        success: by each of the rules.
        yaw_error_deg: shortest turn from the target's centre to the direction, right positive.
        pitch_error_deg: from the target's centre up to the direction; None for a path.
    """

    success: dict[ScoringMode, bool]
    yaw_error_deg: float
    pitch_error_deg: float | None

    @classmethod
    def of(cls, target: Target, direction: Direction) -> Judgement:
        """Judge a direction by every rule."""
        verdicts = {mode: score(target, direction, mode) for mode in ScoringMode}
        paper = verdicts[ScoringMode.PAPER]
        success = {mode: verdict.success for mode, verdict in verdicts.items()}
        return cls(success, paper.yaw_error_deg, paper.pitch_error_deg)


@dataclass(frozen=True)
class EpisodeResult:
    """One episode, run and scored.

    Attributes:
        episode_id: as in ``Episode``.
        scene: name of the scene.
        panorama: the picture's file name and size in bytes, so that an exchanged picture is noticed.
        instruction: what the searcher was told.
        kind: of the task.
        max_turns: the limit.
        level: difficulty; None where there is no target.
        start: where the head looked first.
        target: the answer; None for a task that cannot be scored.
        record: what happened.
        submitted: the submitted direction judged; None when nothing was submitted or there is no target.
        looking: the direction of the head at the end, judged; None when that is not known or there is no target.
        attempts: how often it was run until it completed.
        seconds: how long the last attempt took, everything included.
        ended: when, as local time with its offset.
        tilt: roll and pitch in degrees of the camera that took the picture (``Scene.tilt``): they change every view.
    """

    episode_id: str
    scene: str
    panorama: tuple[str, int]
    instruction: str
    kind: TaskKind
    max_turns: int
    level: int | None
    start: Direction
    target: Target | None
    record: SearchRecord
    submitted: Judgement | None = None
    looking: Judgement | None = None
    attempts: int = 1
    seconds: float = 0.0
    ended: str = ""
    tilt: tuple[float, float] = (0.0, 0.0)

    @property
    def task(self) -> Task:
        """What the searcher was told."""
        return Task(self.instruction, self.kind, self.max_turns)

    @property
    def completed(self) -> bool:
        """The search ran to its end; if not, the machinery failed and the policy is not blamed."""
        return self.record.outcome.completed

    @property
    def scored(self) -> bool:
        """The episode counts."""
        return self.completed and self.target is not None

    def success(self, mode: ScoringMode) -> bool | None:
        """Return whether the submission was right; None where the episode does not count."""
        if not self.scored:
            return None
        return self.submitted is not None and self.submitted.success[mode]

    def looking_success(self, mode: ScoringMode) -> bool | None:
        """Return whether the head really looked at the target when it was submitted; None where it does not count."""
        if not self.scored:
            return None
        return self.submitted is not None and self.looking is not None and self.looking.success[mode]


def judge(episode: Episode, record: SearchRecord, *, attempts: int = 1, seconds: float = 0.0) -> EpisodeResult:
    """Score a finished search."""
    target = episode.target
    panorama = episode.scene.panorama_path
    return EpisodeResult(
        episode_id=episode.episode_id,
        scene=episode.scene.name,
        panorama=(panorama.name, panorama.stat().st_size if panorama.exists() else 0),
        instruction=episode.task.instruction,
        kind=episode.task.kind,
        max_turns=episode.task.max_turns,
        level=episode.level,
        start=episode.start,
        target=target,
        record=record,
        submitted=None if target is None or record.submitted is None else Judgement.of(target, record.submitted),
        looking=None if target is None or record.looking is None else Judgement.of(target, record.looking),
        attempts=attempts,
        seconds=seconds,
        ended=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        tilt=tilt_of(episode),
    )


def tilt_of(episode: Episode) -> tuple[float, float]:
    """Return roll and pitch in degrees of the camera that took an episode's picture, as they are kept."""
    tilt = episode.scene.tilt
    return round(tilt.roll_deg, 4) + 0.0, round(tilt.pitch_deg, 4) + 0.0
