"""What was seen, remembered as directions on the sphere, so that it stays where it is while the head turns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from hvs_ros.angles import Direction


class SightingKind(Enum):
    """What made it worth remembering."""

    SIGN = "sign"
    """Its words fit."""
    COLOR = "color"
    """It has the colour that the target is said to have."""
    OPENING = "opening"
    """The arrow of a sign points at it."""
    ASIDE = "aside"
    """The arrow of a sign points to that side, where nothing was seen."""


@dataclass(frozen=True)
class Sighting:
    """Something that may be the target or show the way to it.

    Attributes:
        kind: what it is.
        direction: of the words that fit.
        text: what it says.
        score: how well it fits, 0 to 1.
        fits: what it fits, for people.
        arrow: where its arrow points on the sign; None without one.
        size_deg: angular width of the words.
        turn: when it was seen last.
        close: it was looked at a second time, enlarged.
    """

    kind: SightingKind
    direction: Direction
    text: str
    score: float
    fits: str
    arrow: str | None = None
    size_deg: float = 0.0
    turn: int = 0
    close: bool = False

    @property
    def side(self) -> int:
        """+1 when its arrow points to the right, -1 to the left, 0 ahead, down or nowhere."""
        arrow = self.arrow or ""
        return (1 if "right" in arrow else 0) - (1 if "left" in arrow else 0)

    def describe(self) -> str:
        """Say what it is in a few words."""
        if self.kind is SightingKind.COLOR:
            return f"something {self.text} at {self.direction}"
        if self.kind is SightingKind.OPENING:
            return f"an opening at {self.direction}"
        if self.kind is SightingKind.ASIDE:
            return f"something aside, perhaps at {self.direction}"
        arrow = f" with an arrow {_TO[self.arrow]}" if self.arrow else ""
        return f"'{self.text}'{arrow} at {self.direction}"


_TO = {
    "right": "to the right", "left": "to the left", "up": "straight on", "down": "down here",
    "up right": "up to the right", "up left": "up to the left",
    "down right": "down to the right", "down left": "down to the left",
}  # fmt: skip


_DOUBTED = 0.75
"""What is left of a score when a closer look does not show the thing: from the side, letters are seen larger."""


class Memory:
    """The sightings of one search and the directions that were looked at."""

    def __init__(self) -> None:
        self.looked: list[Direction] = []
        self._sightings: list[Sighting] = []

    @property
    def sightings(self) -> list[Sighting]:
        """What is remembered, best first."""
        return sorted(self._sightings, key=lambda item: -item.score)

    def add(self, sightings: Iterable[Sighting]) -> None:
        """Remember what was seen; the same thing seen before is replaced when it is seen better now."""
        for new in sightings:
            known = self._same(new)
            if known is None:
                self._sightings.append(new)
            elif new.close or (not known.close and new.score >= known.score):
                self._replace(known, replace(new, arrow=new.arrow or known.arrow))

    def reject(self, sighting: Sighting) -> None:
        """Remember that a closer look did not confirm it."""
        known = self._same(sighting)
        if known is not None:
            self._replace(known, replace(known, score=_DOUBTED * known.score, close=True))

    def _replace(self, old: Sighting, new: Sighting) -> None:
        self._sightings = [new if item is old else item for item in self._sightings]

    def _same(self, sighting: Sighting) -> Sighting | None:
        near = [
            item
            for item in self._sightings
            if item.kind is sighting.kind
            and item.direction.angle_to_deg(sighting.direction) < max(2.5, 0.6 * max(item.size_deg, sighting.size_deg))
        ]
        return min(near, key=lambda item: item.direction.angle_to_deg(sighting.direction), default=None)
