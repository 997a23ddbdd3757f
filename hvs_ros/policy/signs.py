"""The embedded default policy: finds its way by reading signs.

It looks around in views that overlap, reads what it sees, and matches it with the instruction. What fits is
remembered as a direction. It turns to the best sign, reads it again enlarged, and submits the direction in which it
then looks. On the way to a place, a sign with an arrow is followed to the opening or the sign that it points at. When
nothing fits, it submits the best guess it has before its turns run out, and says that it guessed. It needs no graphics
card and no network; it sees nothing but what is written (and, for a guess, patches of a colour that the instruction
names).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.sign_reading.ocr import TextReader, require_packages
from hvs_ros.search.decision import Decision
from hvs_ros.search.task import Task
from hvs_ros.search.view import Observation

if TYPE_CHECKING:
    from hvs_ros.policy.sign_reading.searching import Search


class SignsPolicy:
    """Finds signs by reading them.

    Args:
        min_match: from which match (0 to 1) on a sign counts as what was asked for.
        sure_match: from which match on it looks no further.
        text_score: lines read with less confidence (0 to 1) are not believed.
        threads: processor threads for reading; 0: as many as there are cores, at most 4.
        max_side: views are shrunk to so many pixels on their longer side for the first reading.

    Raises:
        PolicyError: a setting out of range.
        PolicyUnavailableError: the packages of the extra ``signs`` are not installed.
    """

    def __init__(
        self,
        min_match: float = 0.6,
        sure_match: float = 0.8,
        text_score: float = 0.5,
        threads: int = 0,
        max_side: int = 1600,
    ) -> None:
        for name, value in (("min_match", min_match), ("sure_match", sure_match), ("text_score", text_score)):
            if not 0.0 <= value <= 1.0:
                raise PolicyError(f"policy 'signs': {name} is {value}; give 0 to 1")
        if threads < 0:
            raise PolicyError(f"policy 'signs': threads is {threads}; give 0 (automatic) or more")
        if max_side < 320:
            raise PolicyError(f"policy 'signs': max_side is {max_side}; give at least 320 pixels")
        require_packages()
        # What compares text needs the packages, so it is imported only after they were found.
        from hvs_ros.policy.sign_reading.looking import Looker

        self._min_match, self._sure_match = min_match, max(sure_match, min_match)
        self._looker = Looker(TextReader(threads=threads, text_score=text_score, max_side=max_side))
        self._search: Search | None = None

    def start(self, task: Task) -> None:
        """Begin a new search and forget the last one."""
        from hvs_ros.policy.sign_reading.searching import Search

        self._search = Search(task, self._looker, self._min_match, self._sure_match)

    def decide(self, observation: Observation) -> Decision:
        """Read the view and turn on, or submit."""
        if self._search is None:
            raise PolicyError("policy 'signs': decide was called before start")
        return self._search.decide(observation)

    def close(self) -> None:
        """Forget the search."""
        self._search = None
