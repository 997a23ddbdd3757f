"""Panoramas of a run: decoded once, ahead, within their memory, and released."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scripted_crew import RIGHT, VIEWING, ScriptedCrew, make_engine, make_episodes, make_scenes

from hvs_ros.benchmark.open_scenes import OpenScenes
from hvs_ros.panorama.picture import Panorama, PanoramaFile
from hvs_ros.panorama.scene import Scene
from hvs_ros.search.decision import Decision
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

SIZE = (128 + 2) * 256 * 4
"""Bytes of a panorama of 256x128 with the rows beyond its poles."""


class Decodes:
    """Counts what is decoded, and what of it is alive.

    Attributes:
        expected_bytes: alive at most. A thread may need a moment to let go of what it has drawn, which is waited for.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count: Counter[str] = Counter()
        self.alive = self.most_bytes = 0
        self.expected_bytes = sys.maxsize
        self._lock = threading.Lock()
        decode = PanoramaFile.decode

        def counted(file: PanoramaFile) -> Panorama:
            end = time.monotonic() + 2.0
            while self.alive + file.nbytes > self.expected_bytes and time.monotonic() < end:
                time.sleep(0.001)
            panorama = decode(file)
            with self._lock:
                self.count[file.path.name] += 1
                self.alive += panorama.nbytes
                self.most_bytes = max(self.most_bytes, self.alive)
            weakref.finalize(panorama, self._gone, panorama.nbytes)
            return panorama

        monkeypatch.setattr(PanoramaFile, "decode", counted)

    def _gone(self, nbytes: int) -> None:
        self.alive -= nbytes


@pytest.fixture
def decodes(monkeypatch: pytest.MonkeyPatch) -> Decodes:
    return Decodes(monkeypatch)


async def slowly(task: Task, observation: Observation) -> Decision:
    await asyncio.sleep(0.001)
    return RIGHT


@pytest.mark.parametrize(("in_flight", "each"), [(1, 3), (4, 3), (16, 1), (16, 5)])
def test_each_panorama_is_decoded_once_a_run_and_released(
    tmp_path: Path, decodes: Decodes, in_flight: int, each: int
) -> None:
    episodes = make_episodes(tmp_path, scenes=6, each=each)
    report = make_engine(episodes, ScriptedCrew(slowly, size=in_flight), in_flight=in_flight).run()
    assert report.complete
    assert decodes.count == {f"scene_{number}.png": 1 for number in range(6)}
    assert decodes.alive == 0


@pytest.mark.parametrize("in_flight", [1, 3, 16])
@pytest.mark.parametrize(("room_for", "held"), [(0.5, 1), (1.0, 1), (2.5, 2)])
def test_open_panoramas_stay_within_their_memory(
    tmp_path: Path, decodes: Decodes, in_flight: int, room_for: float, held: int
) -> None:
    visits = [scene for scene in make_scenes(tmp_path, 5) for _ in range(3)]
    decodes.expected_bytes = held * SIZE
    run(visits, lambda opened: visit_all(opened, visits, in_flight), budget_bytes=int(room_for * SIZE))
    assert decodes.count == {f"scene_{number}.png": 1 for number in range(5)}
    assert decodes.most_bytes == held * SIZE and decodes.alive == 0


def test_the_engine_keeps_to_the_memory_that_it_is_given(tmp_path: Path, decodes: Decodes) -> None:
    episodes = make_episodes(tmp_path, scenes=6, each=4)
    make_scenes(tmp_path, 6, width=512)  # larger ones in their place: half a megabyte each
    decodes.expected_bytes = (256 + 2) * 512 * 4
    report = make_engine(episodes, ScriptedCrew(slowly, size=16), in_flight=16, memory_mb=1).run()
    assert report.complete and decodes.most_bytes == decodes.expected_bytes


def test_the_next_scenes_are_opened_while_the_first_is_searched(tmp_path: Path, decodes: Decodes) -> None:
    scenes = make_scenes(tmp_path, 5)

    async def visit(opened: OpenScenes) -> None:
        await opened.enter(scenes[0])
        while opened.nbytes < 3 * SIZE or len(decodes.count) < 3:
            await asyncio.sleep(0.001)
        assert sorted(decodes.count) == ["scene_0.png", "scene_1.png", "scene_2.png"]

    run(scenes, visit, ahead=2)
    assert len(decodes.count) == 3


def test_a_scene_that_cannot_be_opened_is_tried_again_and_does_not_stand_in_the_way(
    tmp_path: Path, decodes: Decodes
) -> None:
    scenes = make_scenes(tmp_path, 3)
    whole = scenes[1].panorama_path.read_bytes()
    scenes[0].panorama_path.unlink()
    scenes[1].panorama_path.write_bytes(whole[:500])

    async def visit(opened: OpenScenes) -> None:
        first = asyncio.create_task(opened.enter(scenes[1]))
        for _ in range(2):  # the second time it is known
            with pytest.raises(SearchFailure, match=r"scene_0\.png") as failure:
                await opened.enter(scenes[0])
            assert failure.value.outcome is Outcome.HEAD_FAILED
        scenes[1].panorama_path.write_bytes(whole)
        assert (await first).panorama.width == 256
        opened.leave(scenes[1])
        await opened.enter(scenes[2])

    run(scenes, visit, budget_bytes=SIZE, pauses_s=(0.0, 0.2))
    assert decodes.count == {"scene_1.png": 1, "scene_2.png": 1}


def test_whoever_is_canceled_while_he_waits_leaves_the_scene_to_the_others(tmp_path: Path, decodes: Decodes) -> None:
    (scene,) = make_scenes(tmp_path, 1)

    async def visit(opened: OpenScenes) -> None:
        first, second = (asyncio.create_task(opened.enter(scene)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).panorama.width == 256 and first.cancelled()

    run([scene, scene], visit)
    assert decodes.count == {"scene_0.png": 1} and decodes.alive == 0


def run(
    visits: list[Scene],
    work: Callable[[OpenScenes], Awaitable[None]],
    budget_bytes: int = 10 * SIZE,
    ahead: int = 1,
    pauses_s: tuple[float, ...] = (),
) -> None:
    async def main() -> None:
        with ThreadPoolExecutor(2) as pool:
            opened = OpenScenes(visits, VIEWING, pool, budget_bytes=budget_bytes, ahead=ahead, pauses_s=pauses_s)
            try:
                await asyncio.wait_for(work(opened), 20)
            finally:
                await opened.close()
            assert opened.nbytes == 0

    asyncio.run(main())


async def visit_all(opened: OpenScenes, visits: list[Scene], in_flight: int) -> None:
    """Visit one after the other, so many at the same time."""
    left = iter(visits)

    async def one() -> None:
        for scene in left:
            sampler = await opened.enter(scene)
            assert sampler.panorama.width == 256
            del sampler
            await asyncio.sleep(0.001)
            opened.leave(scene)

    await asyncio.gather(*(one() for _ in range(in_flight)))
