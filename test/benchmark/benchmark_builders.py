"""Episodes and records made by hand, and machinery that does what a test says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hvs_ros.angles import Direction
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.run import Listener
from hvs_ros.benchmark.settings import RunSettings
from hvs_ros.panorama.scene import Scene
from hvs_ros.search.action import Rotate, Submit
from hvs_ros.search.decision import ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.task import Target, Task, TaskKind
from hvs_ros.search.view import MoveOutcome

SETTINGS = RunSettings(policy="random", policy_settings={"seed": 1}, versions={"hvs_ros": "1.0"})
OBJECT = Target((80.0, 100.0), (-10.0, 10.0))
PATH = Target((350.0, 10.0))


def make_episode(
    folder: Path, number: int = 0, *, target: Target | None = OBJECT, level: int | None = 1, task: str = "Find it."
) -> Episode:
    """Return an episode in a scene whose picture exists, but is none."""
    picture = folder / "hall.jpg"
    if not picture.exists():
        picture.write_bytes(b"not opened here")
    kind = TaskKind.OBJECT if target is None else target.kind
    scene = Scene("hall", picture)
    return Episode(f"hall/{number}/0", scene, Task(task, kind), Direction(0, 0), target, level)


def submitted(
    yaw_deg: float, pitch_deg: float = 0.0, *, looking: Direction | None = None, turns: int = 2
) -> SearchRecord:
    """Return a record of a search that turned and then submitted."""
    direction = Direction(yaw_deg, pitch_deg)
    seen = Direction(0.0, 0.0)
    done = []
    for number in range(1, turns):
        after = Direction(30.0 * number, 0.0)
        done.append(_turn(number, seen, Rotate(30.0, 0.0), after))
        seen = after
    done.append(_turn(turns, seen, Submit(yaw_deg, pitch_deg), seen))
    return SearchRecord(Outcome.SUBMITTED, "", direction, False, looking or seen, tuple(done))


def failed(outcome: Outcome, message: str = "no head answers") -> SearchRecord:
    """Return a record of a search that the machinery ended."""
    return SearchRecord(outcome, message)


def _turn(number: int, seen: Direction, action: Rotate | Submit, after: Direction) -> TurnRecord:
    move = MoveOutcome.REACHED if isinstance(action, Rotate) else None
    times = TurnTimes(0.25, 0.5, 0.25)
    said = (ParseStatus.OK, "over\nthere", "raw", False)
    return TurnRecord(number, seen, action, *said, move, after, times, "96x54, green cross", Usage(1500, 20))


class ScriptedBackend:
    """Answers as a function of the episode's id and how often it was asked for it."""

    def __init__(self, answer: Callable[[str, int], SearchRecord]) -> None:
        self.asked: list[str] = []
        self.canceled = False
        self._answer = answer

    def run(self, episode: Episode, listener: Listener) -> SearchRecord:
        """Note the call and answer."""
        self.asked.append(episode.episode_id)
        if self.canceled:
            return failed(Outcome.CANCELED, "canceled")
        record = self._answer(episode.episode_id, self.asked.count(episode.episode_id))
        for turn in record.turns:
            listener.on_turn(turn)
        return record

    def cancel(self) -> None:
        """Cancel."""
        self.canceled = True
