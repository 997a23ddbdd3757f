"""Searches that share a model in process: each as it would be alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import SAYS

from hvs_ros.angles import Direction
from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError
from hvs_ros.policy.crew import Crew, Searcher
from hvs_ros.policy.crews import make_crew
from hvs_ros.policy.registry import create_policy
from hvs_ros.search.action import Submit
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task, TaskKind
from hvs_ros.search.view import Observation

pytest.importorskip("torch")
pytest.importorskip("transformers")

TASKS = [
    Task("find the exit sign"),
    Task("find the way to the lift, which may be far away", TaskKind.PATH),
    Task("find the toilets"),
]


def observation(search: int, turn: int) -> Observation:
    size = ((90, 160, 3), (120, 120, 3), (60, 200, 3))[search % 3]
    image = np.random.default_rng(10 * search + turn).integers(0, 256, size, np.uint8)
    return Observation(image, Direction(10.0 * turn, 0.0), 100.0, turn, 11 - turn)


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    return {"model": str(folder), "device": "cpu", "max_tokens": 20, **more}


async def searched(searcher: Searcher, search: int, turns: int) -> list[Decision]:
    await searcher.start(TASKS[search % 3])
    return [await searcher.decide(observation(search, turn)) for turn in range(1, turns + 1)]


def what(decisions: list[Decision]) -> list[tuple[Any, ...]]:
    return [(d.action, d.raw, d.thought, d.status, d.usage) for d in decisions]


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_each_search_decides_as_the_policy_does_alone(tiny_checkpoint: Path, temperature: float) -> None:
    """Also with a window that is full, and where a searcher has searched before."""
    given = settings(tiny_checkpoint, temperature=temperature, views=2, stop="none")
    policy = create_policy("torch", given)
    expected = {}
    for search in range(5):
        policy.start(TASKS[search % 3])
        expected[search] = what([policy.decide(observation(search, turn)) for turn in (1, 2, 3)])
    policy.close()

    async def run() -> dict[int, list[tuple[Any, ...]]]:
        crew = make_crew("torch", given, 3)
        await crew.open()
        todo, done = iter(range(5)), {}

        async def work(searcher: Searcher) -> None:
            for search in todo:
                done[search] = what(await searched(searcher, search, 3))

        await asyncio.gather(*(work(crew.searcher()) for _ in range(crew.size)))
        await crew.close()
        return done

    assert asyncio.run(run()) == expected
    assert len({told for answers in expected.values() for _, told, *_ in answers}) > 5


def test_a_search_that_is_given_up_leaves_its_searcher_fit_and_the_others_alone(tiny_checkpoint: Path) -> None:
    given = settings(tiny_checkpoint, max_tokens=60, stop="none")

    async def run() -> None:
        crew = make_crew("torch", given, 2)
        await crew.open()
        giving_up, other = crew.searcher(), crew.searcher()
        with pytest.raises(RuntimeError, match="all 2 searchers"):
            crew.searcher()
        expected = what(await searched(other, 1, 2))
        going_on = asyncio.create_task(searched(other, 1, 2))
        for pause_s in (0.0, 0.01, 0.03):
            deciding = asyncio.create_task(searched(giving_up, 2, 1))
            await asyncio.sleep(pause_s)
            deciding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await deciding
        assert what(await searched(giving_up, 1, 2)) == expected
        assert what(await going_on) == expected
        await crew.close()

    asyncio.run(run())


def test_it_tells_what_decides_and_records_it(speaking_checkpoint: Path) -> None:
    async def run() -> None:
        crew: Crew = make_crew("torch", settings(speaking_checkpoint))
        assert crew.size == 8
        await crew.open()
        about = crew.describe()
        (decision,) = await searched(crew.searcher(), 0, 1)
        await crew.close()
        assert decision.raw == SAYS and decision.action == Submit(30, 5)
        assert about["model"] == "speaking" and about["prompts"] == "hvs" and about["stop"] == "answer"
        assert len(about["prompts_sha256"]) == 64 and about["sampling"].startswith("greedy")
        assert "model speaking" in decision.made and "10 tokens said" in decision.made

    asyncio.run(run())


def test_failures_have_the_names_that_a_search_knows(tiny_checkpoint: Path) -> None:
    async def run() -> None:
        crew = make_crew("torch", settings(tiny_checkpoint, max_tokens=127_999), 1)
        await crew.open()
        searcher = crew.searcher()
        with pytest.raises(SearchFailure, match="failed while deciding: a search was not started") as caught:
            await searcher.decide(observation(1, 1))
        assert caught.value.outcome is Outcome.POLICY_FAILED
        with pytest.raises(SearchFailure, match="more than the 128000 of the model's context"):
            await searched(searcher, 1, 1)
        await crew.close()

    asyncio.run(run())


def test_what_cannot_be_is_said_before_anything_is_searched(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="threads is -1"):
        make_crew("torch", settings(tmp_path, threads=-1), 1)
    with pytest.raises(PolicyError, match="no setting sped"):
        make_crew("torch", settings(tmp_path, sped=1), 1)
    with pytest.raises(PolicyError, match="0 searches at the same time"):
        make_crew("torch", settings(tmp_path), 0)
    with pytest.raises(PolicyUnavailableError, match="there is no folder"):
        asyncio.run(make_crew("torch", settings(tmp_path / "nothing"), 1).open())
