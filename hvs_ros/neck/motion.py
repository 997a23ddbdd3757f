"""Motion of one joint with limited velocity and acceleration, from any state to rest at a target.

The profile is the fastest one: brake if it is too fast or heading the wrong way, accelerate, cruise, brake. It starts
from the joint's present position and velocity, so that a newer goal takes over without a jump in either. The axes of a
head are not synchronised: each arrives as soon as it can, as the joints of a pan-tilt unit do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_NEAR = 1e-12


@dataclass(frozen=True)
class Phase:
    """A part of a motion with constant acceleration: its length [s], and its state at the start."""

    duration: float
    position: float
    velocity: float
    acceleration: float

    def at(self, time: float) -> tuple[float, float]:
        """Return position and velocity after so many seconds of it."""
        return (
            self.position + self.velocity * time + self.acceleration * time * time / 2,
            self.velocity + self.acceleration * time,
        )


@dataclass(frozen=True)
class AxisMotion:
    """A motion to rest at a target.

    Attributes:
        target: where it ends; any unit, with velocities in the same unit per second.
        phases: its parts in order; none when it is there at once.
    """

    target: float
    phases: tuple[Phase, ...] = ()

    @property
    def duration(self) -> float:
        """Seconds until it is at rest at the target."""
        return sum(phase.duration for phase in self.phases)

    def at(self, time: float) -> tuple[float, float]:
        """Return position and velocity so many seconds after its start."""
        if time >= self.duration:
            return self.target, 0.0
        left = max(0.0, time)
        for phase in self.phases:
            if left < phase.duration:
                return phase.at(left)
            left -= phase.duration
        return self.target, 0.0


def plan(
    position: float, velocity: float, target: float, *, max_velocity: float, max_acceleration: float
) -> AxisMotion:
    """Return the fastest motion from a state to rest at the target.

    Args:
        position: where the joint is.
        velocity: how fast it moves there; ignored where the acceleration is not limited.
        target: where it is to stop.
        max_velocity: above 0; ``math.inf``: not limited.
        max_acceleration: above 0; ``math.inf``: not limited.
    """
    if math.isinf(max_acceleration):
        way = target - position
        if math.isinf(max_velocity) or abs(way) <= _NEAR:
            return AxisMotion(target)
        return AxisMotion(target, (Phase(abs(way) / max_velocity, position, math.copysign(max_velocity, way), 0.0),))
    # In the direction of `sign` the target lies ahead of where the joint would stop if it braked now.
    rest = position + velocity * abs(velocity) / (2 * max_acceleration)
    sign = 1.0 if target >= rest else -1.0
    way, speed = sign * (target - position), sign * velocity
    if speed > max_velocity:
        peak, first = max_velocity, -max_acceleration
    else:
        peak = min(max_velocity, math.sqrt(max(0.0, max_acceleration * way + speed * speed / 2)))
        first = max_acceleration
    change = abs(peak - speed) / max_acceleration
    brake = peak / max_acceleration
    # Both ramps are trapezoids under the velocity; what is left of the way is cruised.
    cruise_way = way - change * (speed + peak) / 2 - brake * peak / 2
    cruise = max(0.0, cruise_way / peak) if peak > _NEAR else 0.0
    phases: list[Phase] = []
    at = (position, velocity)
    for duration, acceleration in ((change, sign * first), (cruise, 0.0), (brake, -sign * max_acceleration)):
        if duration > 0.0:
            phases.append(Phase(duration, *at, acceleration))
            at = phases[-1].at(duration)
    return AxisMotion(target, tuple(phases))


def plan_stop(position: float, velocity: float, *, max_acceleration: float) -> AxisMotion:
    """Return the motion that brakes to rest as soon as possible; at once where the acceleration is not limited."""
    if math.isinf(max_acceleration) or velocity == 0.0:
        return AxisMotion(position)
    duration = abs(velocity) / max_acceleration
    phase = Phase(duration, position, velocity, math.copysign(max_acceleration, -velocity))
    return AxisMotion(phase.at(duration)[0], (phase,))
