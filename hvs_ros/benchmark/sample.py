"""A few episodes that stand for all of a run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from hvs_ros.benchmark.episodes import Episode


def draw_sample(episodes: Sequence[Episode], count: int, seed: int) -> list[Episode]:
    """Return so many of the episodes, spread over kinds, difficulties and scenes, in the order given.

    The same episodes, in whatever order, and the same seed give the same sample.

    Args:
        episodes: of any number; all are returned where there are no more than asked for.
        count: how many.
        seed: another one draws others.
    """
    if count >= len(episodes):
        return list(episodes)
    left = sorted(episodes, key=lambda episode: episode.episode_id)
    random.Random(seed).shuffle(left)
    taken: Counter[object] = Counter()
    chosen: set[str] = set()
    while len(chosen) < count:
        best = min(left, key=lambda episode: tuple(taken[of] for of in _classes(episode)))
        left.remove(best)
        taken.update(_classes(best))
        chosen.add(best.episode_id)
    return [episode for episode in episodes if episode.episode_id in chosen]


def _classes(episode: Episode) -> tuple[object, ...]:
    """What a sample spreads over, the more important first."""
    kind = episode.task.kind
    return kind, episode.scene.name, (kind, episode.level), (kind, episode.start)
