"""A worker by itself, without Ray: what it needs, and what it tells."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_crew import HASTY, VIEWING, ScriptedCrew, make_engine, make_episodes

from hvs_ros.benchmark.engine import EngineSettings
from hvs_ros.benchmark.episodes import Episode
from hvs_ros.benchmark.fed_engine import FedEngine
from hvs_ros.benchmark.ray_worker import CODE, Job, Worker, pictures_of, software
from hvs_ros.benchmark.result import EpisodeResult
from hvs_ros.benchmark.run import Listener
from hvs_ros.benchmark.tidings import Began, Box, Ended, Noted, Ready, Tiding, Unfit
from hvs_ros.policy.crews import make_crew

LIMIT_S = 30.0


def job_for(episodes: list[Episode], **changes: Any) -> Job:
    job = Job("random", {"seed": 3}, 2, VIEWING, EngineSettings(2, 100, 1), HASTY, pictures_of(episodes))
    return replace(job, **changes)


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()
    made.finish(LIMIT_S)


def hear(worker: Worker, kind: type[Tiding], count: int = 1) -> list[Tiding]:
    """Return everything that a worker has told by the time it has told so many of a kind."""
    heard: list[Tiding] = []
    end = time.monotonic() + LIMIT_S
    while sum(isinstance(tiding, kind) for tiding in heard) < count:
        assert time.monotonic() < end, heard
        heard += worker.tidings(len(heard), 0.5)
    return heard


def without_times(results: list[EpisodeResult]) -> dict[str, Any]:
    return {
        result.episode_id: [(turn.direction, turn.action, turn.raw, turn.picture) for turn in result.record.turns]
        for result in results
    }


def test_what_is_given_bit_by_bit_has_the_results_of_one_run(tmp_path: Path, worker: Worker) -> None:
    episodes = make_episodes(tmp_path)
    whole = make_engine(episodes, make_crew("random", {"seed": 3}, 2), in_flight=2).run()

    worker.start(job_for(episodes))
    ready = hear(worker, Ready)[-1]
    assert isinstance(ready, Ready) and ready.room == 2
    worker.give(episodes[:5])
    heard = hear(worker, Ended, 5)
    worker.give(episodes[5:])
    heard += worker.tidings(len(heard), 0.0)
    while sum(isinstance(tiding, Ended) for tiding in heard) < len(episodes):
        heard += worker.tidings(len(heard), LIMIT_S)
    ended = [tiding.result for tiding in heard if isinstance(tiding, Ended)]
    assert without_times(ended) == without_times(whole.results)
    assert sorted(t.episode_id for t in heard if isinstance(t, Began)) == sorted(e.episode_id for e in episodes)


def test_a_crew_is_opened_once_and_closed_when_there_is_no_more(tmp_path: Path) -> None:
    episodes = make_episodes(tmp_path)
    crew = ScriptedCrew()
    told: list[Mapping[str, str]] = []
    settings = EngineSettings(4, 100, 1)
    engine = FedEngine(crew, VIEWING, Listener(), settings, HASTY, lambda facts, room: told.append(facts))
    running = threading.Thread(target=engine.run)
    running.start()
    for episode in episodes:
        engine.give([episode])
    engine.give(None)
    running.join(LIMIT_S)
    assert not running.is_alive()
    assert crew.events == ["opened", "closed"] and len(crew.tasks) == len(episodes)
    assert told == [{"model": "scripted"}]


def test_a_data_set_that_is_not_there_or_another_one_is_named(tmp_path: Path) -> None:
    episodes = make_episodes(tmp_path, scenes=2, each=1)
    pictures = pictures_of(episodes)
    episodes[1].scene.panorama_path.unlink()
    other = Worker()
    other.start(job_for(episodes, pictures=pictures))
    (gone,) = hear(other, Unfit)
    assert isinstance(gone, Unfit) and not gone.everywhere
    assert "scene_1.png: No such file or directory" in gone.reason
    assert "the data set must have the same path on every machine" in gone.reason

    episodes[0].scene.panorama_path.write_bytes(b"short")
    other = Worker()
    other.start(job_for(episodes, pictures=pictures[:1]))
    (changed,) = hear(other, Unfit)
    assert isinstance(changed, Unfit) and "another picture there: 5 bytes instead of" in changed.reason


def test_a_policy_that_cannot_be_made_is_told_and_where_that_would_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_of_worker.py").write_text(
        "from hvs_ros.policy.contract import PolicyUnavailableError\n"
        "from hvs_ros.policy.random_walk import RandomPolicy\n"
        "class Missing(RandomPolicy):\n"
        "    def __init__(self):\n"
        "        raise PolicyUnavailableError('no GPU here')\n"
    )
    monkeypatch.chdir(Path.cwd())  # a worker goes to the folder where the run was started; here it comes back
    monkeypatch.setattr(sys, "path", [*sys.path])
    for policy, reason, everywhere in (
        ("nobody", "there is no policy 'nobody'", True),
        ("mine_of_worker:Missing", "no GPU here", False),
    ):
        worker = Worker()
        worker.start(job_for([], policy=policy, policy_settings={}, folder=tmp_path))
        (unfit,) = hear(worker, Unfit)
        assert isinstance(unfit, Unfit) and reason in unfit.reason and unfit.everywhere is everywhere


def test_software_names_versions_and_the_code() -> None:
    found = software("random")
    assert {"hvs_ros", "numpy", CODE} <= set(found) and len(found[CODE]) == 12


def test_tidings_are_kept_until_they_are_known_to_have_been_heard() -> None:
    box = Box()
    for text in "abc":
        box.put(Noted(text))
    first = box.after(0, 0.0)
    assert [tiding.text for tiding in first if isinstance(tiding, Noted)] == ["a", "b", "c"]
    assert box.after(0, 0.0) == first, "an answer that was lost is given again"
    assert box.after(2, 0.0) == [Noted("c")]
    assert box.after(3, 0.0) == []
    threading.Timer(0.05, box.put, [Noted("d")]).start()
    assert box.after(3, LIMIT_S) == [Noted("d")]
