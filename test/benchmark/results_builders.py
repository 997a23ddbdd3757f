"""Results of episodes made by hand or at random, without a search."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from hvs_ros.angles import Direction
from hvs_ros.benchmark.record import SearchRecord, TurnRecord
from hvs_ros.benchmark.recorded_runs import RecordedRun
from hvs_ros.benchmark.result import EpisodeResult, Judgement
from hvs_ros.benchmark.result_json import from_json, to_json
from hvs_ros.benchmark.settings import FORMAT, RunSettings
from hvs_ros.search.action import Action, Rotate, Submit
from hvs_ros.search.decision import ParseStatus, Usage
from hvs_ros.search.episode import Outcome, TurnTimes
from hvs_ros.search.task import Target
from hvs_ros.search.view import MoveOutcome

OBJECT = Target((80.0, 100.0), (-10.0, 10.0))
PATH = Target((350.0, 10.0))
SETTINGS = RunSettings(policy="random", policy_settings={"seed": 1}, versions={"hvs_ros": "1.0"})


def result(
    name: str = "hall/0/0",
    *,
    target: Target | None = OBJECT,
    level: int | None = 0,
    found: bool | None = True,
    turns: int = 2,
    start: float = 0.0,
    step: float = 45.0,
    **changes: Any,
) -> EpisodeResult:
    """Return a result of a search that turned right by ``step`` in each turn and submitted in the last.

    Args:
        name: ``scene/item/start``, whose first part is the scene.
        target: the answer.
        level: difficulty.
        found: submitted the target's middle; False: what is behind it; None: never submitted.
        turns: how many.
        start: yaw in degrees.
        step: of a turn in degrees.
        changes: of the result.
    """
    center = Direction(90.0, 0.0) if target is None else target.center
    said = center if found else Direction(center.yaw_deg + 180.0, 0.0).normalized()
    seen, made = Direction(start, 0.0), []
    for number in range(1, turns + 1):
        last = number == turns and found is not None
        action: Action = Submit(said.yaw_deg, said.pitch_deg) if last else Rotate(step, 0.0)
        after = seen if last else seen.turned(step, 0.0)
        made.append(_turn(number, seen, action, after))
        seen = after
    outcome = Outcome.TURNS_EXHAUSTED if found is None else Outcome.SUBMITTED
    submitted = None if found is None else said
    record = SearchRecord(outcome, "", submitted, False, seen, tuple(made))
    judged = None if target is None or submitted is None else Judgement.of(target, submitted)
    looked = None if target is None else Judgement.of(target, seen)
    scene = name.split("/")[0]
    kind = OBJECT.kind if target is None else target.kind
    made_result = EpisodeResult(
        name,
        scene,
        (f"{scene}.jpg", 100),
        f"Find {name}.",
        kind,
        10,
        level if target is not None else None,
        Direction(start, 0.0),
        target,
        record,
        judged,
        looked,
        1,
        float(turns),
        "2026-03-01T10:00:00+0000",
    )
    # As whoever reads a file finds it.
    return replace(from_json(to_json(made_result)), **changes)


def broken(name: str = "hall/0/0", outcome: Outcome = Outcome.HEAD_FAILED, **changes: Any) -> EpisodeResult:
    """Return a result of a search that the machinery ended."""
    made = result(name, **changes)
    return replace(made, record=SearchRecord(outcome, "no head answers"), submitted=None, looking=None)


def many(seed: int, scenes: int = 8, each: int = 6, chance: float = 0.5) -> list[EpisodeResult]:
    """Return random results: objects and paths of all levels, a few that did not complete."""
    draw = random.Random(seed)
    made = []
    for number in range(scenes * each):
        name = f"s{number // each}/{number % each}/{90 * (number % 4)}"
        path = number % 3 == 2
        options = {
            "target": PATH if path else OBJECT,
            "level": number % (4 if path else 3),
            "start": 90.0 * (number % 4),
        }
        if draw.random() < 0.05:
            made.append(broken(name, **options))  # type: ignore[arg-type]
            continue
        found = draw.choice([False, None]) if draw.random() > chance else True
        turns = 10 if found is None else draw.randint(1, 10)
        made.append(result(name, found=found, turns=turns, **options))  # type: ignore[arg-type]
    return made


def recorded(results: list[EpisodeResult], name: str = "run.jsonl", **settings: Any) -> RecordedRun:
    """Return the run of these results."""
    return RecordedRun(Path(name), {**SETTINGS.to_json(), **settings}, tuple(results))


def written(path: Path, results: list[EpisodeResult], settings: RunSettings = SETTINGS) -> Path:
    """Write a results file and return it; all at once, unlike a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"hvs_results": FORMAT, "settings": settings.to_json()}, *(to_json(each, path.parent) for each in results)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _turn(number: int, seen: Direction, action: Action, after: Direction) -> TurnRecord:
    move = MoveOutcome.REACHED if isinstance(action, Rotate) else None
    said = (ParseStatus.OK, "there", "raw", False)
    return TurnRecord(number, seen, action, *said, move, after, TurnTimes(0.25, 0.5, 0.25), "", Usage(1500, 20, 300))
