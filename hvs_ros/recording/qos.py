"""The QoS that a topic's publisher offered, as a bag keeps it.

Without it a player offers its default, volatile, and a latched topic's late subscriber hears nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime

# "Infinite" as rmw writes it.
_FOREVER = QosTime(9223372036, 854775807)


@dataclass(frozen=True)
class Offer:
    """What a publisher offered.

    Attributes:
        reliable: lost samples are sent again; else best effort.
        latched: late subscribers get the last samples (transient local); else volatile.
        depth: how many samples are kept.
    """

    reliable: bool = True
    latched: bool = False
    depth: int = 10

    def profile(self) -> Qos:
        """Return it in rosbags' terms."""
        return Qos(
            history=QosHistory.KEEP_LAST,
            depth=self.depth,
            reliability=QosReliability.RELIABLE if self.reliable else QosReliability.BEST_EFFORT,
            durability=QosDurability.TRANSIENT_LOCAL if self.latched else QosDurability.VOLATILE,
            deadline=_FOREVER,
            lifespan=_FOREVER,
            liveliness=QosLiveliness.AUTOMATIC,
            liveliness_lease_duration=_FOREVER,
            avoid_ros_namespace_conventions=False,
        )


DEFAULT = Offer()
"""What is assumed where nothing is known."""
