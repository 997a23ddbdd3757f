"""The panoramas of a run: each decoded once, ahead of its first episode, and held until its last has ended.

Many searches are under way at the same time, in one scene after the other. Decoding a panorama takes as long as a
hundred views of it, so it is done in threads while others are searched, for the scenes that come next; and a decoded
panorama of 8k takes 120 MB, so only as many are open as there is memory for. Scenes are let in strictly in the order of
the run: whoever waits for a scene then waits for earlier ones only, whose searches are under way and end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hvs_ros.benchmark.viewing import Viewing
from hvs_ros.panorama import PictureError, Tilt, ViewSampler
from hvs_ros.panorama.picture import read_panorama
from hvs_ros.panorama.scene import Scene
from hvs_ros.search.episode import Outcome, SearchFailure

T = TypeVar("T")

_Key = tuple[Path, Tilt]


@dataclass
class _Visit:
    """One scene of the run.

    Attributes:
        number: which in the order of the run, the first is 0.
        scene: where.
        left: episodes in it that have not ended.
        nbytes: memory that it holds, or is about to.
        admitted: its turn is over: there was room for it, or it cannot be opened.
        opening: ends with what makes its views.
    """

    number: int
    scene: Scene
    left: int = 0
    nbytes: int = 0
    admitted: bool = False
    opening: asyncio.Task[ViewSampler] | None = None


class OpenScenes:
    """Opens scenes and releases them; all calls come from one event loop.

    Args:
        visits: the scene of each episode, in the order in which they are run.
        viewing: makes the views.
        pool: reads and decodes.
        budget_bytes: for decoded panoramas; one is open even if it takes more.
        ahead: so many scenes after the last one that was entered are opened as well, as far as there is room.
        pauses_s: before each further attempt to open a scene that could not be.
    """

    def __init__(
        self,
        visits: Iterable[Scene],
        viewing: Viewing,
        pool: Executor,
        *,
        budget_bytes: int,
        ahead: int = 1,
        pauses_s: Iterable[float] = (),
    ) -> None:
        self._visits: dict[_Key, _Visit] = {}
        for scene in visits:
            self._visits.setdefault(_key(scene), _Visit(len(self._visits), scene)).left += 1
        self._order = list(self._visits.values())
        self._viewing, self._pool = viewing, pool
        self._budget, self._ahead, self._pauses_s = budget_bytes, ahead, tuple(pauses_s)
        self._begun = 0
        self._changed = asyncio.Event()

    @property
    def nbytes(self) -> int:
        """Memory that the open panoramas hold, with those that are being decoded."""
        return sum(visit.nbytes for visit in self._order)

    async def enter(self, scene: Scene) -> ViewSampler:
        """Wait until the scene is open, and return what makes its views; may be repeated until ``leave``.

        Raises:
            SearchFailure: HEAD_FAILED: it cannot be opened.
        """
        visit = self._visits[_key(scene)]
        for near in self._order[self._begun : visit.number + self._ahead + 1]:
            near.opening = asyncio.create_task(self._open(near))
            self._begun += 1
        if visit.opening is None:
            raise RuntimeError(f"the scene {scene.name} was left by all its episodes and is entered once more")
        return await asyncio.shield(visit.opening)  # others wait for it too

    def leave(self, scene: Scene) -> None:
        """Note that one of the scene's episodes has ended for good; after the last one the panorama is released."""
        visit = self._visits[_key(scene)]
        visit.left -= 1
        if visit.left == 0:
            visit.opening, visit.nbytes = None, 0
            self._tell()

    async def close(self) -> None:
        """Open no further scene, and release all."""
        opening = [visit.opening for visit in self._order if visit.opening is not None]
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        for visit in self._order:
            visit.opening, visit.nbytes = None, 0

    async def _open(self, visit: _Visit) -> ViewSampler:
        try:
            # Also before it is read, so that no more than one file waits in memory for room.
            await self._until(lambda: all(earlier.admitted for earlier in self._order[: visit.number]))
            for pause_s in self._pauses_s:
                try:
                    return await self._attempt(visit)
                except PictureError:
                    await asyncio.sleep(pause_s)
            return await self._attempt(visit)
        except PictureError as error:
            visit.nbytes = 0
            raise SearchFailure(Outcome.HEAD_FAILED, str(error)) from error
        finally:
            visit.admitted = True
            self._tell()

    async def _attempt(self, visit: _Visit) -> ViewSampler:
        path, tilt = visit.scene.panorama_path, visit.scene.tilt
        visit.nbytes = 0
        file = await self._in_thread(lambda: read_panorama(path, roll_deg=tilt.roll_deg, pitch_deg=tilt.pitch_deg))
        await self._until(lambda: self._has_room(file.nbytes))
        visit.nbytes, visit.admitted = file.nbytes, True
        self._tell()
        return self._viewing.sampler(await self._in_thread(file.decode))

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    def _has_room(self, nbytes: int) -> bool:
        held = self.nbytes
        return held == 0 or held + nbytes <= self._budget

    def _tell(self) -> None:
        """Let those look again who wait for their turn or for room."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _key(scene: Scene) -> _Key:
    return scene.panorama_path.absolute(), scene.tilt
