"""Which worker searches what, when several share the episodes of a run.

Episodes are handed out by scene, so that few machines decode the same panorama. The first workers get as much as keeps
them busy; towards the end each gets only its share of what is left, so that none is still at work on a heap when the
others have nothing to do. What a worker had under way when it was lost goes to the end of the queue: if one of these
episodes was the reason, the others are done before it has its next chance.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from hvs_ros.benchmark.episodes import Episode


class Handout:
    """The episodes that are left of a run.

    Args:
        episodes: of any order; in this one the scenes are handed out.
        workers: how many there are to be; a scene with more than one's share of the episodes is cut.
    """

    def __init__(self, episodes: Iterable[Episode], workers: int) -> None:
        self._groups: deque[list[Episode]] = deque()
        self._held: dict[str, dict[str, Episode]] = {}
        self._workers = max(1, workers)
        every = list(episodes)
        self._largest = max(1, -(-len(every) // self._workers))
        self._enqueue(every)

    @property
    def waiting(self) -> int:
        """Episodes that nobody has."""
        return sum(map(len, self._groups))

    @property
    def done(self) -> bool:
        """Every episode has ended."""
        return not self._groups and not any(self._held.values())

    def held(self, worker: str) -> int:
        """Return how many episodes a worker has that have not ended."""
        return len(self._held.get(worker, {}))

    def take(self, worker: str, enough: int) -> list[Episode]:
        """Return more episodes for a worker, whole scenes, or nothing where it has enough or nothing is left.

        Args:
            worker: who asks.
            enough: episodes that keep it busy.
        """
        share = min(enough - self.held(worker), -(-self.waiting // self._workers))
        taken: list[Episode] = []
        while self._groups and len(taken) < share:
            taken += self._groups.popleft()
        self._held.setdefault(worker, {}).update({episode.episode_id: episode for episode in taken})
        return taken

    def ended(self, worker: str, episode_id: str) -> bool:
        """Note that a worker's episode has ended; return False where it is none of its own: nobody waits for it."""
        return self._held.get(worker, {}).pop(episode_id, None) is not None

    def lost(self, worker: str) -> list[Episode]:
        """Take back what a worker has and has not ended, and return it."""
        held = list(self._held.pop(worker, {}).values())
        self._enqueue(held)
        return held

    def _enqueue(self, episodes: Sequence[Episode]) -> None:
        scenes: dict[str, list[Episode]] = {}
        for episode in episodes:
            scenes.setdefault(episode.scene.name, []).append(episode)
        for group in scenes.values():
            self._groups += [group[i : i + self._largest] for i in range(0, len(group), self._largest)]
