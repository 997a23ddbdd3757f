"""Where joints are and how fast they move, as far as what a driver says of them can be believed.

A motion takes over from another at this state. One that began with a velocity that is none (degrees per second, a
spike, the wrong sign) would lead anywhere; one that began too fast to be braked before a stop, beyond the stop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hvs_ros.neck.chain import JointLimits
from hvs_ros.neck.joint_history import EXTRAPOLATION_S, JointHistory
from hvs_ros.neck.joints import NS, Joints

SLOPE_S = 0.1
"""So far back the joints are looked up to see whether they move as fast as they say."""


def believable_state(history: JointHistory, limits: Sequence[JointLimits], now_ns: int) -> tuple[Joints, Joints]:
    """Return (position [rad], velocity [rad/s]) of the first joints of a history, one for each of the limits.

    Velocities are within the limits, and such that the joints can be braked before their stops.

    Args:
        history: with a sample at least.
        limits: of the joints that are meant.
        now_ns: the state is that of this moment, if it is not long after the last sample, or else that of the sample.
    """
    last = history.last
    assert last is not None
    since = (now_ns - last.stamp_ns) / NS
    earlier = history.at(last.stamp_ns - round(SLOPE_S * NS))
    position, velocity = [], []
    for index, limit in enumerate(limits):
        x, v = last.position[index], last.velocity[index]
        if earlier is not None:
            way = x - earlier.position[index]
            mean = (math.remainder(way, 2 * math.pi) if limit.continuous else way) / SLOPE_S
            # Within its acceleration the velocity of now is half of this from the mean.
            v = v if abs(v - mean) <= limit.max_acceleration * SLOPE_S else mean
        if 0.0 < since <= EXTRAPOLATION_S:
            gone = x + _brakable(v, x, limit) * since
            x = min(max(gone, min(limit.lower, x)), max(limit.upper, x))
        position.append(x)
        velocity.append(_brakable(v, x, limit))
    return tuple(position), tuple(velocity)


def _brakable(velocity: float, position: float, limit: JointLimits) -> float:
    room = limit.upper - position if velocity > 0.0 else position - limit.lower
    most = min(limit.max_velocity, math.sqrt(2 * limit.max_acceleration * max(0.0, room)))
    return min(max(velocity, -most), most)
