"""Which episode comes next.

Drawn without putting back: an environment has seen every episode once before it sees one twice, in an order that
follows from the seed alone. The list itself, which takes seconds to make for a data set of thousands, is shared by the
environments of a process that were asked for the same, as long as there is one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hvs_ros.benchmark.dataset import open_dataset, plan_benchmark
from hvs_ros.benchmark.episodes import Episode, Selection
from hvs_ros.gym.shared import Shared
from hvs_ros.search.task import TaskKind
from hvs_ros.share import sample_scenes, user_path

_OPTION = "episode"
_Wanted = tuple[Path, tuple[str, ...], str | None, int]


class Catalogue:
    """The episodes of a data set, by scene, item and start.

    Args:
        wanted: folder, patterns, kind and turn limit (see ``EpisodeDeck``).
    """

    def __init__(self, wanted: _Wanted) -> None:
        folder, patterns, kind, max_turns = wanted
        selection = Selection(patterns, None if kind is None else TaskKind(kind))
        planned = plan_benchmark(open_dataset(folder), selection, seed=None, max_turns=max_turns)
        self.episodes: tuple[Episode, ...] = tuple(planned)
        self.by_id = {episode.episode_id: episode for episode in planned}


_catalogues = Shared(Catalogue)


class EpisodeDeck:
    """The episodes of a data set, to draw from.

    Args:
        scenes: folder in the published layout; None: the sample scenes.
        select: shell patterns; an episode is taken when one of them matches its id or its scene. Empty: all.
        kind: "object" or "path"; None: both.
        max_turns: of every task.

    Raises:
        SceneError: there is nothing to search, or a scene is malformed.
        SelectionError: no episode is left.
        ValueError: a kind that is none.
    """

    def __init__(self, scenes: str | Path | None, select: Sequence[str], kind: str | None, max_turns: int) -> None:
        kinds = [known.value for known in TaskKind]
        if kind is not None and kind not in kinds:
            raise ValueError(f"kind is {kind!r}; give {' or '.join(kinds)}, or None for both")
        folder = sample_scenes() if scenes is None else user_path(scenes)
        patterns = (select,) if isinstance(select, str) else tuple(select)
        self._catalogue = _catalogues.get((folder.absolute(), patterns, kind, max_turns))
        self._left: list[int] = []

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """All of them."""
        return self._catalogue.episodes

    def shuffle(self) -> None:
        """Put all episodes back."""
        self._left = []

    def draw(self, random: np.random.Generator) -> Episode:
        """Return the next episode."""
        if not self._left:
            self._left = random.permutation(len(self.episodes)).tolist()
        return self.episodes[self._left.pop()]

    def chosen(self, options: dict[str, Any] | None) -> Episode | None:
        """Return the episode that ``reset`` was asked for by ``options={"episode": id}``; None: any.

        Raises:
            ValueError: another option, or no such episode.
        """
        unknown = next((name for name in options or {} if name != _OPTION), None)
        if unknown is not None:
            raise ValueError(f"there is no option {unknown!r} of reset; there is {_OPTION!r}, an episode's id")
        wanted = (options or {}).get(_OPTION)
        if wanted is None:
            return None
        episode = self._catalogue.by_id.get(wanted)
        if episode is None:
            first = self.episodes[0].episode_id
            raise ValueError(
                f"there is no episode {wanted!r:.200} among these {len(self.episodes)}; ids look like {first!r}"
            )
        return episode
