"""What is wrong with servos: silence, hardware errors, modes in which they do not go where they are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hvs_ros.nodes.commands.dynamixel_servos import MODES, POSITION_MODES, SINGLE_TURN, hardware_errors

SILENT_S = 0.5
_FAR = 1 << 30


@dataclass(frozen=True)
class ServoHealth:
    """What a servo says of itself.

    Attributes:
        torque: it holds itself.
        hardware_error: bits.
        mode: its operating mode.
        least: ticks, of its own range; holds within a single turn only.
        greatest: ticks.
    """

    torque: bool = False
    hardware_error: int = 0
    mode: int = SINGLE_TURN
    least: int = -_FAR
    greatest: int = _FAR


class Health:
    """What is known of servos. Not thread-safe.

    Args:
        names: of the servos, for messages.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = dict(names)
        self._known: dict[int, ServoHealth] = {}
        self._heard: dict[int, float] = {}

    def forget(self) -> None:
        """Begin anew, with a bus that was just opened."""
        self._known.clear()
        self._heard.clear()

    def hear(self, servos: Iterable[int], now: float) -> None:
        """Note which servos answered at that time [s]."""
        self._heard.update(dict.fromkeys(servos, now))

    def update(self, servo: int, **said: Any) -> None:
        """Note what a servo says of itself: fields of ``ServoHealth``."""
        self._known[servo] = replace(self.of(servo), **said)

    def of(self, servo: int) -> ServoHealth:
        """Return what a servo last said of itself."""
        return self._known.get(servo, ServoHealth())

    def range(self, servo: int) -> tuple[int, int]:
        """Return least and greatest goal [ticks]; goals beyond them it would ignore."""
        health = self.of(servo)
        return (health.least, health.greatest) if health.mode == SINGLE_TURN else (-_FAR, _FAR)

    def problem(self, now: float) -> str:
        """Return what is wrong with any of them; empty: nothing."""
        return "; ".join(filter(None, (self._problem(servo, now) for servo in self._names)))

    def _problem(self, servo: int, now: float) -> str:
        name, health = self._names[servo], self.of(servo)
        if now - self._heard.get(servo, -_FAR) > SILENT_S:
            return f"{name} does not answer: check its cable, its power, its id and the baudrate"
        if health.hardware_error:
            what = hardware_errors(health.hardware_error)
            return f"{name} reports a hardware error: {what}; remove the cause, then switch its power off and on"
        if health.mode not in POSITION_MODES:
            mode = MODES.get(health.mode, str(health.mode))
            return f"{name} is in the mode '{mode}' and ignores positions; set its operating mode (register 11) to 3"
        return ""
